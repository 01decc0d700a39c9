import json

import pytest

from keras_vit.cli import bench_against as beside
from keras_vit.cli import recording_speed
from keras_vit.cli.bench_against import Taken
from keras_vit.cli.recording_speed import exponents, growth, relatives, speed


def measured(asked):
    """Stands in for the measurement: cost by a power law of each size, ours half of theirs."""

    def measure(names, settings, call, rounds):
        asked.append((settings, call))
        cost = settings["batch_size"] * settings["image_size"] ** 2 * settings.get("depth", 1)
        cost *= settings.get("width", 1) ** 1.5
        return {name: Taken(cost * (1 if name == beside.OURS else 2), int(cost)) for name in names}

    return measure


def test_every_cell_is_measured_once(tmp_path):
    asked = []
    start = lambda name, settings: {"import": 1.0}  # noqa: E731
    for _ in range(2):  # the second time it reads what it kept
        found = speed(tmp_path, measured(asked), start)
    cells = len(recording_speed.INFERENCE) + len(recording_speed.TRAINING)
    files = len(recording_speed.FILES) * len(beside.FILES)
    assert len(found["rows"]) == len(asked) == cells + files
    first = found["rows"][0]
    assert (first["model"], first["batch"], first["call"]) == ("vit_ti16", 1, "inference")
    ratio = first["keras_hub"]["seconds"] / first["keras_vit"]["seconds"]
    assert ratio == pytest.approx(2, rel=1e-3) and first["share"] > 0
    json.dumps(found)


def test_the_relatives_are_measured_beside_those_who_have_them(tmp_path):
    rows = relatives(tmp_path, measured([]))["rows"]
    assert len(rows) == 4 * len(recording_speed.RELATIVES)
    swin, clips = rows[0], rows[-1]
    assert {"keras_vit", "timm", "timm_compiled"} < set(swin) and "keras_hub" not in swin
    assert clips["model"] == "timesformer_b16" and "transformers" in clips and "timm" not in clips
    assert swin["share"] > 0


def test_the_exponents_are_those_of_the_law(tmp_path):
    found = growth(tmp_path, measured([]))
    expected = {"batch_size": 1, "image_size": 2, "depth": 1, "width": 1.5}
    for what, exponent in expected.items():
        for cost in ("seconds", "bytes"):
            assert found["exponents"][what]["keras_vit"][cost] == exponent, what


def test_what_a_call_costs_in_any_case_is_left_out():
    rows = [
        {"grows": what, "value": value, "keras_vit": cost, "keras_hub": cost}
        for what in recording_speed.GROWTH
        for value, cost in ((1, {"seconds": 9, "bytes": 9}), (2, _squared(2)), (4, _squared(4)))
    ]
    rows += [
        {**row, "value": 8, "keras_vit": _squared(8), "keras_hub": _squared(8)}
        for row in rows
        if row["value"] == 4
    ]
    assert exponents(rows)["depth"]["keras_vit"] == {"seconds": 2.0, "bytes": 2.0}


def _squared(value):
    return {"seconds": value**2, "bytes": value**2}
