"""Weights & Biases, offline: what it has written is read back."""

import json
import struct
import sys

import pytest

from keras_vit.training import train
from keras_vit.training.tracking import ID, WandB


def test_without_the_package_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match=r"keras-vit-kit\[wandb\]"):
        WandB("project", tmp_path, {})


def records(data):
    """The records of wandb's log: LevelDB's, in blocks of 32 KiB, after a head of 7 bytes."""
    assert data.startswith(b":W&B")
    position, whole = 7, b""
    while position + 7 <= len(data):
        if 32768 - position % 32768 < 7:
            position += 32768 - position % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, position)
        whole += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield whole
            whole = b""


@pytest.mark.prove
@pytest.mark.filterwarnings("default")  # wandb's own
def test_a_run_is_followed(digits, quick, monkeypatch, tmp_path):
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    folder = tmp_path / "run"
    result = train(quick, str(digits), folder, verbose=False, wandb="project")
    (file,) = folder.glob("wandb/offline-run-*/*.wandb")
    assert (folder / ID).read_text() in file.name
    rows, projects = [], []
    for record in map(Record.FromString, records(file.read_bytes())):
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            rows.append({(i.key or i.nested_key[0]): json.loads(i.value_json) for i in items})
        elif record.WhichOneof("record_type") == "run":
            projects.append(record.run.project)
    assert projects[0] == "project"
    assert [row["val_accuracy"] for row in rows] == [row["val_accuracy"] for row in result.history]
    assert [row["epoch"] for row in rows] == [1, 2]
