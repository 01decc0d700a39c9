import numpy as np
import pytest

from keras_vit.weights.archives import Archive

ARRAYS = {
    "blocks.0.w": np.array([2.0, 3.0]),
    "blocks.1.w": np.array([5.0]),
    "head": np.array([[7.0]]),
}


@pytest.fixture
def reads():
    return []


@pytest.fixture
def archive(reads):
    def read(name):
        reads.append(name)
        return ARRAYS[name]

    shapes = {name: array.shape for name, array in ARRAYS.items()}
    return Archive("file.npz", shapes, read, {"model_type": "vit"})


def test_names_and_arrays(archive):
    assert "head" in archive and "tail" not in archive
    assert archive.read("head") is ARRAYS["head"]


def test_renamed(archive, reads):
    renamed = archive.renamed(lambda name: name.replace("blocks.", "block_"))
    assert renamed.shapes == {"block_0.w": (2,), "block_1.w": (1,), "head": (1, 1)}
    assert "blocks.0.w" not in renamed
    assert (renamed.origin, renamed.metadata) == (archive.origin, archive.metadata)
    assert reads == []
    assert renamed.read("block_1.w") is ARRAYS["blocks.1.w"]
    assert renamed.read("head") is ARRAYS["head"]
    again = renamed.renamed(lambda name: f"x/{name}")
    assert again.read("x/block_0.w") is ARRAYS["blocks.0.w"]


def test_two_arrays_of_one_name(archive):
    with pytest.raises(ValueError, match="file.npz holds 'w' twice: 'blocks.0.w' and 'blocks.1.w'"):
        archive.renamed(lambda name: name.split(".")[-1])


def test_other_arrays(archive, reads):
    more = archive.with_arrays(
        {"head": lambda: np.array([11.0]), "sum": lambda: archive.read("head") + 1},
        {"head": (1,), "sum": (1, 1)},
        without=("blocks.0.w",),
    )
    assert more.shapes == {"blocks.1.w": (1,), "head": (1,), "sum": (1, 1)}
    assert reads == []
    assert more.read("head") == [11.0]
    assert more.read("sum") == [[8.0]]
    assert more.read("blocks.1.w") is ARRAYS["blocks.1.w"]
    assert archive.read("head") is ARRAYS["head"]
    with pytest.raises(KeyError, match=r"blocks\.0\.w"):
        more.read("blocks.0.w")
