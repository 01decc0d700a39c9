"""`.pth` files written by hand, also such as PyTorch would never write."""

import pickle
import zipfile
from typing import NamedTuple

import numpy as np


class Name(NamedTuple):
    """A class or function that the pickle names."""

    module: str
    name: str


class Call(NamedTuple):
    """The result of calling one."""

    function: Name
    arguments: tuple


class Built(NamedTuple):
    """An object, or a class, with a state set."""

    target: object
    state: object


class Persistent(NamedTuple):
    """What the pickle asks its reader for."""

    key: object


REBUILD = Name("torch._utils", "_rebuild_tensor_v2")
ORDERED = Call(Name("collections", "OrderedDict"), ())


def pickled(value):
    """The value as a pickle."""
    return b"\x80\x02" + _code(value) + b"."


def _code(value):
    match value:
        case Name(module, name):
            return f"c{module}\n{name}\n".encode()
        case Call(function, arguments):
            return _code(function) + _code(tuple(arguments)) + b"R"
        case Built(target, state):
            return _code(target) + _code(state) + b"b"
        case Persistent(key):
            return _code(key) + b"Q"
        case tuple():
            return b"(" + b"".join(map(_code, value)) + b"t"
        case list():
            return b"](" + b"".join(map(_code, value)) + b"e"
        case dict():
            items = b"".join(_code(key) + _code(item) for key, item in value.items())
            return b"}(" + items + b"u"
    return pickle.dumps(value, 2)[2:-1]  # without protocol and stop


def storage(key="0", kind="FloatStorage", size=6, place="cpu", tag="storage"):
    return Persistent((tag, Name("torch", kind), key, place, size))


def tensor(offset=0, shape=(2, 3), strides=(3, 1), stored=None, more=(False, ORDERED)):
    stored = storage() if stored is None else stored
    return Call(REBUILD, (stored, offset, shape, strides, *more))


def write_pth(path, value, storages=None, **more):
    """Writes a `.pth`; `value` may be a pickle's bytes; `more` are other members."""
    if storages is None:
        storages = {"0": np.arange(6, dtype="float32").tobytes()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w/data.pkl", value if isinstance(value, bytes) else pickled(value))
        for key, content in storages.items():
            archive.writestr(f"w/data/{key}", content)
        for name, content in more.items():
            archive.writestr(f"w/{name}", content)
    return path
