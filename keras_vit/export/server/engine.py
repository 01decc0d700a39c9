"""From a checked request to its answer, whatever protocol it came by."""

import asyncio
import contextlib
import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

from keras_vit.export.server.batcher import Task
from keras_vit.export.server.errors import Refused, graph_reason
from keras_vit.export.server.signatures import (
    DEFAULT,
    check_form,
    check_names,
    kind_of,
    rows_of,
    with_defaults,
)
from keras_vit.export.server.tensors import from_proto

# Threads that decode pictures and turn JSON into arrays.
THREADS = 4


@dataclasses.dataclass(frozen=True)
class Spec:
    """Which model a request asks.

    Args:
        name: the model.
        version: its number, or None.
        label: the label of a version, or None.
        signature: name of the signature.
    """

    name: str
    version: int | None = None
    label: str | None = None
    signature: str = DEFAULT


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a model says.

    Args:
        version: the version that answered.
        definition: the `SignatureDef` that was asked.
        outputs: dict of name to array.
        rows: number of examples, or None.
    """

    version: int
    definition: object
    outputs: dict
    rows: int | None


class Engine:
    """Answers requests with the models of a folder.

    Args:
        models: `Models`.
        settings: the server's `Settings`.
    """

    def __init__(self, models, settings):
        self.models, self.settings = models, settings
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="prepare")

    @contextlib.contextmanager
    def definition(self, spec, missing="FAILED_PRECONDITION"):
        """Gives `(loaded, definition)` of what a request asks.

        Args:
            spec: `Spec`.
            missing: the code for a signature that there is not.

        Raises:
            Refused: if there is no such model, version or signature.
        """
        with self.models.use(spec.name, spec.version, spec.label) as loaded:
            if spec.signature not in loaded.runner.callable:
                text = f'Serving signature key "{spec.signature}" not found.'
                raise Refused(missing, text)
            yield loaded, loaded.runner.definitions[spec.signature]

    async def predict(self, spec, protos, wanted=(), seconds=None):
        """Answers a request of `TensorProto`s.

        Args:
            spec: `Spec`.
            protos: dict of name to `TensorProto`.
            wanted: names of the outputs; all by default.
            seconds: how long the client waits, or None.

        Returns:
            An `Answer`.

        Raises:
            Refused: if it cannot be answered.
        """
        with self.definition(spec) as (loaded, definition):
            inputs = self._read(definition, protos)
            return await self.compute(loaded, definition, spec, inputs, wanted, seconds)

    def _read(self, definition, protos):
        check_names(definition, protos)
        for name, proto in protos.items():
            shape = [dim.size for dim in proto.tensor_shape.dim]
            check_form(name, definition.inputs[name], proto.dtype, shape)
        # One value may stand for a whole tensor: no more numbers than a request may have bytes.
        most = self.settings.max_body
        return {name: from_proto(name, proto, most) for name, proto in protos.items()}

    async def compute(self, loaded, definition, spec, inputs, wanted=(), seconds=None):
        """Answers a request of arrays for a version that stays loaded meanwhile.

        Args:
            loaded: `Loaded`.
            definition: `SignatureDef`; names and forms of the inputs are checked against it.
            spec: `Spec`.
            inputs: dict of name to array.
            wanted: names of the outputs; all by default.
            seconds: how long the client waits, or None.

        Returns:
            An `Answer`.

        Raises:
            Refused: if it cannot be answered.
        """
        names = _outputs(definition, wanted)
        inputs = with_defaults(definition, inputs)
        shapes = {name: array.shape for name, array in inputs.items()}
        rows = rows_of(definition, shapes, self.settings.max_batch)
        limit = self.settings.timeout_s
        limit = limit if seconds is None else min(seconds, limit)
        try:
            async with asyncio.timeout(limit):
                outputs = await self._queued(loaded, spec.signature, inputs, rows, limit)
        except TimeoutError:
            text = f"No answer within {limit:.3g} seconds."
            raise Refused("DEADLINE_EXCEEDED", text) from None
        outputs = {name: outputs[name] for name in names}
        return Answer(loaded.number, definition, outputs, rows)

    async def _queued(self, loaded, signature, inputs, rows, limit):
        deadline = time.monotonic() + limit
        batcher = loaded.batcher
        batcher.enter()
        try:
            prepared = await self.in_thread(loaded.runner.prepare, signature, inputs)
            signature, inputs, finish = prepared
            task = Task(kind_of(signature, inputs), inputs, rows, deadline)
        except BaseException:
            batcher.leave()
            raise
        try:
            # A cancelled request cancels its future, and the batcher passes over it.
            return finish(await asyncio.wrap_future(batcher.submit(task)))
        except tf.errors.OpError as error:
            raise _of_tensorflow(error) from error

    async def in_thread(self, work, *arguments):
        """Runs a function in one of the threads, so that others are answered meanwhile."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, work, *arguments)

    def close(self):
        """Ends the threads."""
        self._pool.shutdown()


def _outputs(definition, wanted):
    if not wanted:
        return list(definition.outputs)
    for name in wanted:
        if name not in definition.outputs:
            known = ",".join(sorted(definition.outputs))
            raise Refused(
                "INVALID_ARGUMENT",
                f"output tensor alias not found in signature: {name} "
                f"Outputs expected to be in the set {{{known}}}.",
            )
    if len(set(wanted)) < len(wanted):
        raise Refused("INVALID_ARGUMENT", "duplicate output tensor alias")
    return list(wanted)


def _of_tensorflow(error):
    """A graph's complaint about its input is the client's to mend; others are the server's."""
    mendable = isinstance(error, tf.errors.InvalidArgumentError | tf.errors.OutOfRangeError)
    code = "INVALID_ARGUMENT" if mendable else "INTERNAL"
    return Refused(code, graph_reason(error))
