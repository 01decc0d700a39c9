import sys

import pytest

from keras_vit.cli import bench_against as beside
from keras_vit.cli import bench_tables
from keras_vit.cli.bench_against import Taken
from keras_vit.models import ViTConfig


@pytest.fixture
def measured(monkeypatch):
    """Stands in for the measurement: each rival takes a second more than the one before."""

    def compare(names, settings, call, python, rounds):
        return {name: Taken(1.0 + i, 2**20 * (i + 1)) for i, name in enumerate(names)}

    monkeypatch.setattr(beside, "compare", compare)


def rows(table):
    return list(zip(*(column.cells for column in table.columns), strict=True))


def test_beside(measured):
    found = rows(
        bench_tables.beside_table(ViTConfig(), 4, None, "timm,keras_hub", sys.executable, 1)
    )
    assert found[0] == ("inference, keras_vit", "4.0", "", "1")
    assert found[2] == ("inference, keras_hub", "1.3", "3.00", "3")
    assert found[3][0] == "inference, of the machine's matrix products"
    assert len(found) == 2 * 4


def test_files_name_the_fastest_of_ours(measured):
    table = bench_tables.files_table(ViTConfig(), sys.executable, 1)
    assert table.caption == "the fastest of ours: saved_model, float32"
    assert ("onnxruntime, dynamic int8", "2,000.0", "2") in rows(table)


def test_a_gpu_is_swept_where_there_is_one(measured, monkeypatch):
    given = (ViTConfig(), "timm_compiled", sys.executable, 1)
    assert bench_tables.gpu_table(*given).startswith("No GPU here")
    monkeypatch.setattr(bench_tables, "gpu_name", lambda: "NVIDIA H200")
    found = rows(bench_tables.gpu_table(*given))
    assert [row[0] for row in found] == [f"inference, {b}" for b in bench_tables.GPU_BATCHES]
    assert found[-1][1:3] == ("256", "128")
    # 256 images of 35.1 billion operations in a second, of 989 trillion.
    assert found[-1][3] == "0.9 %"
