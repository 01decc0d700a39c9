"""PyTorch `.pth` files, read without PyTorch and without running what they hold.

A `.pth` is a zip archive: `data.pkl`, a pickle that names each tensor's storage, shape and
strides, and one file of raw bytes a storage. A pickle can call any function it names. The reader
here knows the few names that a state dict is made of, and has a harmless class of its own for
each; any other name ends the reading.
"""

import io
import pickle
import zipfile
from typing import NamedTuple

import ml_dtypes
import numpy as np

from keras_vit.weights.archives.archive import Archive
from keras_vit.weights.archives.damage import refused
from keras_vit.weights.archives.precision import widened

STORAGES = {
    "FloatStorage": np.float32,
    "DoubleStorage": np.float64,
    "HalfStorage": np.float16,
    "BFloat16Storage": ml_dtypes.bfloat16,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ShortStorage": np.int16,
    "CharStorage": np.int8,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
}
# Where training code keeps the state dict among other things (DeiT and MAE: "model").
HOLDERS = ("model", "state_dict", "model_state", "model_ema")
# The pickled number that a file begins with in the format before PyTorch 1.6.
LEGACY = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
CONVERT = "torch.save(torch.load(path, weights_only=True), new_path)"
SAVE = "torch.save(model.state_dict(), path)"


def open_pth(path):
    """Opens a PyTorch state dict.

    Raises:
        ValueError: if the file is damaged, of the format before PyTorch 1.6, holds anything
            but tensors and plain values, or no state dict.
    """
    with refused(f"{path} cannot be read as a PyTorch state dict"):
        _require_zip(path)
        with zipfile.ZipFile(path) as archive:
            folder = _folder(archive)
            # Read whole, which checks the CRC, before the first byte of it is acted on.
            pickled = archive.read(f"{folder}data.pkl")
        tensors = _state_dict(_StateReader(io.BytesIO(pickled)).load())
    read = lambda name: _read(path, folder, name, tensors[name])  # noqa: E731
    return Archive(str(path), {name: t.shape for name, t in tensors.items()}, read)


def _require_zip(path):
    if zipfile.is_zipfile(path):
        return
    with open(path, "rb") as file:
        if file.read(len(LEGACY)) == LEGACY:
            raise ValueError(
                f"it is of the format before PyTorch 1.6; convert it in PyTorch: {CONVERT}"
            )
    raise ValueError("it is no zip archive, or is cut short")


def _folder(archive):
    names = archive.namelist()
    folders = [name.removesuffix("data.pkl") for name in names if f"/{name}".endswith("/data.pkl")]
    if len(folders) != 1:
        raise ValueError(f"it holds {len(folders)} files data.pkl instead of one")
    order = f"{folders[0]}byteorder"
    if order in names and archive.read(order) != b"little":
        raise ValueError("its numbers are big-endian")
    return folders[0]


class _Inert:
    """Of a pickle's objects, those that are not plain values: it can make them, not alter them."""

    __slots__ = ()

    def __setstate__(self, state):
        # Without this, a pickle could set attributes, even of the class.
        pass


class _Mapping(_Inert, dict):
    """What `collections.OrderedDict` becomes."""

    __slots__ = ()


class _Options(_Inert):
    """What `argparse.Namespace` becomes: training options beside the weights, of no use here."""

    __slots__ = ()


class _Storage(NamedTuple):
    """The bytes that tensors are views of; `torch.FloatStorage` and others become this."""

    dtype: np.dtype
    key: str


class _Tensor(_Inert):
    """A tensor's place in its storage; `torch._utils._rebuild_tensor_v2` becomes this."""

    __slots__ = ("offset", "shape", "storage", "strides")

    def __init__(self, storage, offset, shape, strides, grad=False, hooks=None, metadata=None):
        numbers = (offset, *shape, *strides)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise pickle.UnpicklingError(f"a tensor has the offset, shape or strides {numbers}")
        if not isinstance(storage, _Storage) or len(shape) != len(strides):
            raise pickle.UnpicklingError("a tensor is not described as PyTorch does it")
        if metadata:  # a view that is to be conjugated or negated
            raise pickle.UnpicklingError(f"a tensor is a view of the kind {metadata}")
        self.storage, self.offset = storage, offset
        self.shape, self.strides = tuple(shape), tuple(strides)

    def view(self, content):
        """The tensor as an array, from the storage's bytes."""
        flat = np.frombuffer(content, self.storage.dtype)
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if 0 in self.shape:
            return np.zeros(self.shape, flat.dtype)
        if last >= flat.size:
            raise ValueError(f"it reaches beyond its storage, to {last} of {flat.size} numbers")
        steps = [stride * flat.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, steps)


class _Parameter(_Inert):
    """What `torch._utils._rebuild_parameter` becomes: the tensor itself."""

    __slots__ = ()

    def __new__(cls, tensor, *_):
        return tensor


KNOWN = {
    ("collections", "OrderedDict"): _Mapping,
    ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
    ("torch._utils", "_rebuild_parameter"): _Parameter,
    ("argparse", "Namespace"): _Options,
    # A name only, which nothing can be done with.
    **{("torch", name): name for name in STORAGES},
}


class _StateReader(pickle.Unpickler):
    """An unpickler that knows what state dicts are made of, and refuses every other name."""

    def find_class(self, module, name):
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which no state dict needs and which may run code; "
                f"save weights alone in PyTorch: {SAVE}"
            )
        return KNOWN[module, name]

    def persistent_load(self, key):
        kind, storage, place, *_ = key
        if kind != "storage" or storage not in STORAGES or "/" in place:
            raise pickle.UnpicklingError(f"it asks for {key!r}, which is no storage")
        return _Storage(STORAGES[storage], place)


def _state_dict(found):
    if not isinstance(found, dict):
        raise ValueError(f"it holds one {type(found).__name__.strip('_')}; save it by: {SAVE}")
    for holder in HOLDERS:
        if isinstance(found.get(holder), dict):
            found = found[holder]
            break
    tensors = {str(name): value for name, value in found.items() if isinstance(value, _Tensor)}
    if not tensors:
        raise ValueError("it holds no tensors")
    return tensors


def _read(path, folder, name, tensor):
    with refused(f"{path}: the tensor {name!r} is damaged"), zipfile.ZipFile(path) as archive:
        array = tensor.view(archive.read(f"{folder}data/{tensor.storage.key}"))
    return widened(array, f"{path}: {name!r}")
