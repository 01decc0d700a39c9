import pytest

from keras_vit.weights import Report

LONG = "vit.encoder.layer.11.attention.attention."
FILLED = {
    "patch_encoder/projection/kernel": (("embedding/kernel",), (256, 24), ""),
    "patch_encoder/position": (("pos_embed",), (1, 25, 24), "resized from 3×5 to 5×5 (bicubic)"),
    "block_11/attention/qkv/kernel": (
        (f"{LONG}query.weight", f"{LONG}key.weight", f"{LONG}value.weight"),
        (768, 3, 12, 64),
        "",
    ),
    "scale": (("scale",), (), ""),
}
NEW = {"head/kernel": "7 classes, where the file has 1000", "head/bias": "7 classes"}
UNUSED = {
    "mask_token": "the token of masked patches",
    "params/[bold]:smile:": "[red]no place[/red]",
}
NOTES = ("The head is new: 7 classes, where the file has 1000.", "Another [1] note.")


@pytest.fixture
def report():
    return Report("/folder/[w].npz", "jax", FILLED, NEW, UNUSED, NOTES)


def test_the_table_holds_everything(report):
    lines = str(report).splitlines()
    assert lines[0] == "/folder/[w].npz (jax)"
    assert lines[-2:] == list(NOTES)
    assert lines[2].split() == ["weight", "shape", "from", "note"]
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines[4:-3]]
    assert rows == [
        ["patch_encoder/projection/kernel", "256×24", "embedding/kernel"],
        ["patch_encoder/position", "1×25×24", "pos_embed", "resized from 3×5 to 5×5 (bicubic)"],
        ["block_11/attention/qkv/kernel", "768×3×12×64", f"{LONG}query.weight"],
        [f"{LONG}key.weight"],
        [f"{LONG}value.weight"],
        ["scale", "scale"],
        ["head/kernel", "new", NEW["head/kernel"]],
        ["head/bias", "new", "7 classes"],
        ["mask_token", "not used: the token of masked patches"],
        ["params/[bold]:smile:", "not used: [red]no place[/red]"],
    ]


def test_it_is_plain_text_on_any_terminal(report, monkeypatch):
    plain = str(report)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert str(report) == plain
    assert "\x1b" not in plain
    assert all(line == line.rstrip() for line in plain.splitlines())


def test_names_are_never_cut():
    name = "x" * 300
    report = Report("w", "hf_vit", {f"{name}/ours": ((f"{name}.theirs",), (2,), "")}, {}, {})
    row = f"{name}/ours"
    assert any(row in line and f"{name}.theirs" in line for line in str(report).splitlines())


def test_a_long_note_is_folded(report):
    note = "word " * 60
    lines = str(Report("w", "jax", {"x": (("y",), (2,), note)}, {}, {})).splitlines()
    assert " ".join(lines).count("word") == 60
    assert max(map(len, lines)) < 120


def test_nothing_happened():
    assert str(Report("w", "jax", {}, {}, {})).startswith("w (jax)\n")


def test_remarks(report):
    assert report.remarks == [
        *NOTES,
        "head/kernel is new: 7 classes, where the file has 1000.",
        "head/bias is new: 7 classes.",
        "patch_encoder/position: resized from 3×5 to 5×5 (bicubic).",
    ]
    assert Report("w", "jax", {"x": (("y",), (2,), "")}, {}, UNUSED).remarks == []
