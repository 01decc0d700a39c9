"""One compile, in a process of its own: `python -m keras_vit.training.tpu.worker REQUEST`.

A process has one Keras backend, and one that compiled for a TPU gives its gigabytes back only when
it ends. The request is JSON, see `check.Request`; so is the answer, the last line written.
"""

import json
import sys

from keras_vit.models import NAMES
from keras_vit.models.flops import training_flops
from keras_vit.training.tpu.compiler import compiled_jax, compiled_text
from keras_vit.training.tpu.lint import lint
from keras_vit.training.tpu.topology import topology

DTYPE = "mixed_bfloat16"


def answer(request):
    """Makes the step that a request asks for, and compiles it.

    Args:
        request: a dict of the fields of `check.Request`.

    Returns:
        A dict: the outcome of the compile, `lint`, and `analytic_flops` of one chip.
    """
    model_class, fields = NAMES[request["model"]]
    config = model_class.config_class(**{**fields, **request["fields"]})
    outcome = ROADS[request["road"]](model_class, config, request)
    return {**outcome, "analytic_flops": training_flops(config) * request["batch_per_chip"]}


def _jax(model_class, config, request):
    from keras_vit.training.tpu.jax_step import training_step

    chips, ways = topology(request["topology"]).devices(), request["tensor_parallel"]
    batch_size = request["batch_per_chip"] * len(chips)
    step = training_step(model_class, config, chips, batch_size, ways, DTYPE)
    found = lint(step.lowered.as_text())
    return {**compiled_jax(step.lowered, step.sharded_sizes), "lint": found}


def _tensorflow(model_class, config, request):
    from keras_vit.training.tpu.tf_step import stablehlo

    whole = topology(request["topology"])
    chip = whole.one_chip().devices()[0]
    text = stablehlo(model_class(config, dtype=DTYPE), request["batch_per_chip"])
    return {**compiled_text(text, chip), "lint": lint(text)}


ROADS = {"jax": _jax, "tensorflow": _tensorflow}


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))))
