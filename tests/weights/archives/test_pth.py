import pickle
import shutil
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from keras_vit.weights.archives import open_archive
from keras_vit.weights.archives.pth import KNOWN, STORAGES
from tests.weights.archives.pickles import (
    Built,
    Call,
    Name,
    Persistent,
    pickled,
    storage,
    tensor,
    write_pth,
)
from tests.weights.archives.reading import (
    assert_no_flip_alters,
    assert_refused,
    assert_same,
    cut_short,
    read_all,
)

FIXTURES = Path(__file__).parents[2] / "fixtures"
PTH = FIXTURES / "pth"
SIX = np.arange(6, dtype="float32")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.pth"


def test_every_kind_of_tensor_that_pytorch_wrote():
    with np.load(PTH / "kinds.npz") as stored:
        expected = dict(stored)
    expected["half"] = expected["half"].astype("float32")
    assert {"transposed", "window", "expanded", "parameter", "scalar"} <= set(expected)
    assert_same(read_all(PTH / "kinds.pth"), expected)


@pytest.mark.parametrize("name", ["deit", "deit_distilled", "deit3", "mae"])
def test_the_research_codes_files(name):
    archive = open_archive(FIXTURES / "weights" / f"{name}_pth" / "w.pth")
    assert archive.shapes["blocks.1.attn.qkv.weight"] == (72, 24)
    kernel = archive.read("patch_embed.proj.weight")
    assert kernel.shape == (24, 3, 4, 4) and np.isfinite(kernel).all() and kernel.std() > 0.01
    assert archive.metadata == {}


@pytest.mark.parametrize("kind, dtype", STORAGES.items())
def test_storages(path, kind, dtype):
    values = np.array([0, 1, 3, 100]).astype(dtype)
    write_pth(path, {"x": tensor(0, (4,), (1,), storage("7", kind))}, {"7": values.tobytes()})
    found = read_all(path)["x"]
    narrow = values.dtype in (np.float16, ml_dtypes.bfloat16)
    np.testing.assert_array_equal(
        found, values.astype("float32") if narrow else values, strict=True
    )


@pytest.mark.parametrize(
    "offset, shape, strides, expected",
    [
        (0, (2, 3), (3, 1), [[0, 1, 2], [3, 4, 5]]),
        (0, (3, 2), (1, 3), [[0, 3], [1, 4], [2, 5]]),
        (1, (2, 2), (2, 1), [[1, 2], [3, 4]]),
        (1, (3,), (2,), [1, 3, 5]),
        (2, (2, 2), (0, 1), [[2, 3], [2, 3]]),
        (5, (), (), 5),
        (5, (1, 1), (99, 99), [[5]]),
        (6, (0, 3), (3, 1), np.zeros((0, 3))),
        (0, (2, 2), (1, 1), [[0, 1], [1, 2]]),
    ],
)
def test_strides_and_offsets(path, offset, shape, strides, expected):
    write_pth(path, {"x": tensor(offset, shape, strides)})
    expected = np.asarray(expected, "float32")
    np.testing.assert_array_equal(read_all(path)["x"], expected, strict=True)


@pytest.mark.parametrize("holder", [None, "model", "state_dict", "model_ema"])
def test_where_the_state_dict_is_kept(path, holder):
    state = {"x": tensor()}
    options = Built(Call(Name("argparse", "Namespace"), ()), {"lr": 0.1, "name": "run"})
    found = state if holder is None else {"epoch": 3, "args": options, holder: state}
    assert_same(read_all(write_pth(path, found)), {"x": SIX.reshape(2, 3)})


def test_the_first_holder_counts(path):
    write_pth(path, {"model_ema": {"y": tensor()}, "model": {"x": tensor()}})
    assert set(read_all(path)) == {"x"}


def test_parameters_and_ordered_dicts(path):
    ordered = Call(Name("collections", "OrderedDict"), ([["x", 3]],))
    parameter = Call(Name("torch._utils", "_rebuild_parameter"), (tensor(), True, ordered))
    state = Built(ordered, {"_metadata": {"": {"version": 1}}})
    write_pth(path, {"model": {"x": parameter}, "other": state})
    assert_same(read_all(path), {"x": SIX.reshape(2, 3)})


def test_opening_reads_no_storage_and_none_is_kept(path):
    write_pth(path, {"x": tensor(), "y": tensor(0, (1,), (1,), storage("gone"))})
    whole = path.read_bytes()
    path.write_bytes(whole.replace(SIX.tobytes(), bytes(24)))
    archive = open_archive(path)
    assert archive.shapes == {"x": (2, 3), "y": (1,)}
    with pytest.raises(ValueError, match=r"w\.pth: the tensor 'x' is damaged: Bad CRC-32"):
        archive.read("x")
    path.write_bytes(whole)
    assert archive.read("x") is not archive.read("x")


def test_cut_short_anywhere(path):
    shutil.copy(PTH / "small.pth", path)
    for length in cut_short(path):
        assert_refused(path, "is empty" if length == 0 else "no zip archive, or is cut short")


def test_no_flipped_byte_gives_other_tensors(path):
    shutil.copy(PTH / "small.pth", path)
    with zipfile.ZipFile(path) as archive:
        read = [info for info in archive.infolist() if "/data" in info.filename]
    assert len(read) == 3
    # Each byte is damaged twice. PyTorch leaves gaps between the members.
    assert assert_no_flip_alters(path) > 2 * sum(info.file_size for info in read)


@pytest.mark.parametrize(
    "part", ["version", "byteorder", ".data/serialization_id", "data.pkl", "data/0", "data/1"]
)
def test_without_one_of_its_members(path, part):
    with zipfile.ZipFile(PTH / "small.pth") as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            if name != f"small/{part}":
                target.writestr(name, source.read(name))
    if part.startswith("data"):
        match = "0 files data.pkl" if part == "data.pkl" else f"no item named 'small/{part}'"
        assert_refused(path, match)
    else:
        assert_same(read_all(path), read_all(PTH / "small.pth"))


def test_the_format_before_pytorch_1_6():
    text = assert_refused(PTH / "legacy.pth", "it is of the format before PyTorch 1.6")
    assert "torch.save(torch.load(path, weights_only=True), new_path)" in text


def test_a_whole_module():
    text = assert_refused(PTH / "module.pth", "it asks for torch.nn.modules.linear.Linear")
    assert "torch.save(model.state_dict(), path)" in text


MARK = "import pathlib; pathlib.Path({!r}).touch()"
ATTACKS = {
    "os.system": lambda mark: Call(Name("os", "system"), (f"touch {mark}",)),
    "posix.system": lambda mark: Call(Name("posix", "system"), (f"touch {mark}",)),
    "subprocess.call": lambda mark: Call(Name("subprocess", "call"), (["touch", mark],)),
    "builtins.eval": lambda mark: Call(Name("builtins", "eval"), (f"open({mark!r}, 'w')",)),
    "builtins.exec": lambda mark: Call(Name("builtins", "exec"), (MARK.format(mark),)),
    "__builtin__.eval": lambda mark: Call(Name("__builtin__", "eval"), (f"open({mark!r}, 'w')",)),
    "builtins.open": lambda mark: Call(Name("builtins", "open"), (mark, "w")),
    "builtins.getattr": lambda mark: Call(Name("builtins", "getattr"), (mark, "encode")),
    "pathlib.Path": lambda mark: Call(Name("pathlib", "Path"), (mark,)),
    "torch.load": lambda mark: Call(Name("torch", "load"), (mark,)),
    "torch.hub.load": lambda mark: Call(Name("torch", "hub.load"), (mark,)),
    "torch.storage._load_from_bytes": lambda mark: Call(
        Name("torch.storage", "_load_from_bytes"), (mark.encode(),)
    ),
    "numpy.load": lambda mark: Call(Name("numpy", "load"), (mark,)),
    "collections.OrderedDict.fromkeys": lambda mark: Call(
        Name("collections", "OrderedDict.fromkeys"), (mark,)
    ),
    "codecs.encode": lambda mark: Call(Name("_codecs", "encode"), (mark, "latin1")),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_pickles_that_run_code(path, attack):
    mark = path.with_name("mark")
    value = ATTACKS[attack](str(mark))
    write_pth(path, {"model": {"x": tensor()}, "more": value})
    text = assert_refused(path, "it asks for .*, which no state dict needs and which may run code")
    assert f"asks for {value.function.module}.{value.function.name}," in text
    assert not mark.exists()


@pytest.mark.parametrize("attack", ["os.system", "posix.system", "builtins.exec", "builtins.open"])
def test_these_pickles_would_run_code_elsewhere(path, attack):
    """The test above proves something: Python's own unpickler does what they ask for."""
    mark = path.with_name("mark")
    opened = pickle.loads(pickled(ATTACKS[attack](str(mark))))
    if attack == "builtins.open":
        opened.close()
    assert mark.exists()


def reduced(name, mark):
    """A pickle by other means than REDUCE, as `pickle` has several."""
    module, function = name.split(".")
    argument = pickle.dumps(f"touch {mark}", 2)[2:-1]
    return {
        "stack global": b"\x80\x04\x8c"
        + bytes([len(module)])
        + module.encode()
        + b"\x8c"
        + bytes([len(function)])
        + function.encode()
        + b"\x93("
        + argument
        + b"tR.",
        "inst": b"(" + argument + f"i{module}\n{function}\n.".encode(),
        "obj": f"(c{module}\n{function}\n".encode() + argument + b"o.",
        "newobj": f"\x80\x02c{module}\n{function}\n(".encode("latin-1") + argument + b"t\x81.",
        "build": f"\x80\x02c{module}\n{function}\n".encode("latin-1") + argument + b"b.",
    }


@pytest.mark.parametrize("way", ["stack global", "inst", "obj", "newobj", "build"])
def test_other_ways_of_calling(path, way):
    mark = path.with_name("mark")
    content = reduced("os.system", mark)[way]
    write_pth(path, content)
    assert_refused(path, "it asks for os.system")
    assert not mark.exists()


KNOWN_NAMES = [Name(*pair) for pair in KNOWN]


@pytest.mark.parametrize("name", KNOWN_NAMES, ids=lambda name: name.name)
@pytest.mark.parametrize("state", [{"read": 3}, (None, {"view": 3}), (None, {"__init__": 3})])
def test_a_pickle_cannot_alter_what_reads_it(path, name, state):
    """BUILD sets attributes, of a class too: all later files would be read by an altered one."""
    before = {pair: dict(vars(kind)) for pair, kind in KNOWN.items() if isinstance(kind, type)}
    write_pth(path, {"model": {"x": tensor()}, "more": Built(name, state)})
    assert_refused(path)
    after = {pair: dict(vars(kind)) for pair, kind in KNOWN.items() if isinstance(kind, type)}
    assert after == before


def test_states_of_objects_are_ignored(path):
    mapping = Built(Call(Name("collections", "OrderedDict"), ([["x", 3]],)), {"items": 3, "get": 3})
    altered = Built(tensor(), {"shape": (9,), "offset": 5})
    write_pth(path, {"model": {"x": altered, "y": mapping}})
    assert_same(read_all(path), {"x": SIX.reshape(2, 3)})


@pytest.mark.parametrize(
    "bad, match",
    [
        ({"offset": 1}, "reaches beyond its storage, to 6 of 6 numbers"),
        ({"shape": (3, 3)}, "reaches beyond its storage, to 8 of 6"),
        ({"strides": (4, 1)}, "reaches beyond its storage, to 6 of 6"),
        ({"shape": (1 << 61, 1), "strides": (1 << 61, 1)}, "reaches beyond its storage"),
        ({"offset": -1}, r"the offset, shape or strides \(-1, 2, 3, 3, 1\)"),
        ({"strides": (-3, 1)}, "the offset, shape or strides"),
        ({"shape": (-2, 3)}, "the offset, shape or strides"),
        ({"offset": 0.0}, "the offset, shape or strides"),
        ({"shape": ("2", 3)}, "the offset, shape or strides"),
        ({"strides": (True, 1)}, "the offset, shape or strides"),
        ({"shape": (2, 3, 1)}, "is not described as PyTorch does it"),
        ({"shape": 6}, "cannot be read"),
        ({"stored": "0"}, "is not described as PyTorch does it"),
        ({"stored": (Name("torch", "FloatStorage"), "0")}, "is not described as PyTorch does it"),
        ({"stored": storage("9")}, "There is no item named 'w/data/9'"),
        ({"stored": storage("../data.pkl")}, "which is no storage"),
        ({"stored": storage(tag="module")}, "which is no storage"),
        ({"stored": storage(7)}, "cannot be read"),
        ({"stored": storage(kind="ComplexFloatStorage")}, "it asks for torch.ComplexFloatStorage"),
        ({"stored": storage(kind="LongStorage")}, "reaches beyond its storage, to 5 of 3"),
        ({"stored": Persistent("storage")}, "which is no storage"),
        ({"stored": Persistent(())}, "cannot be read"),
        ({"stored": Persistent(("storage", "x", "0", "cpu", 6))}, "no storage"),
        ({"more": (False, {}, {"neg": True})}, "a tensor is a view of the kind {'neg': True}"),
    ],
)
def test_tensors_that_make_no_sense(path, bad, match):
    write_pth(path, {"x": tensor(**bad)})
    assert_refused(path, match)


def test_a_storage_of_half_a_number(path):
    write_pth(path, {"x": tensor(0, (1,), (1,))}, {"0": b"12345"})
    assert_refused(path, "the tensor 'x' is damaged")


def test_big_endian_files(path):
    write_pth(path, {"x": tensor()}, byteorder="big")
    assert_refused(path, "its numbers are big-endian")
    write_pth(path, {"x": tensor()}, byteorder="little")
    assert_same(read_all(path), {"x": SIX.reshape(2, 3)})


@pytest.mark.parametrize(
    "value, match",
    [
        ({}, "it holds no tensors"),
        ({"model": {"epoch": 3}}, "it holds no tensors"),
        ({"model": {}, "x": tensor()}, "it holds no tensors"),
        ([tensor()], r"it holds one list; save it by: torch\.save"),
        (tensor(), r"it holds one Tensor; save it by: torch\.save"),
        (3, "it holds one int"),
        (b"", "Ran out of input"),
        (b"\x80\x02}", "cannot be read"),
        (b"text", "cannot be read"),
        (b"\x80\xff.", "unsupported pickle protocol"),
        (b"\x80\x02]" + b"\x8f" + b"\xff" * 8 + b".", "cannot be read"),
        (b"\x80\x04\x8e" + b"\xff" * 8 + b".", "cannot be read"),
        (b"." * 5, "cannot be read"),
    ],
)
def test_pickles_without_a_state_dict(path, value, match):
    write_pth(path, value)
    assert_refused(path, match)


def test_several_pickles(path):
    with zipfile.ZipFile(path, "w") as archive:
        for folder in ("a", "b"):
            archive.writestr(f"{folder}/data.pkl", pickled({}))
        archive.writestr("a/otherdata.pkl", b"")
    assert_refused(path, "it holds 2 files data.pkl instead of one")


def test_a_pickle_at_the_top_of_the_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickled({"x": tensor()}))
        archive.writestr("data/0", SIX.tobytes())
    assert_same(read_all(path), {"x": SIX.reshape(2, 3)})
