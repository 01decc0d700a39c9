"""Train, evaluate, predict and export in the same words for clips and for pairs."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from keras_vit import runtime
from tests.data.pictures import noise
from tests.data.test_video import write_video
from tests.data.tokens import MERGES

SIZES = {"image_size": 16, "patch_size": 8, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 16}


def changes(**fields):
    return [part for name, value in fields.items() for part in ("--set", f"{name}={value}")]


OF_CLIPS = changes(
    config={**SIZES, "frames": 3},
    preprocessing={"mean": (0.5,) * 3, "std": (0.5,) * 3, "stride": 2},
    weights=None,
    weights_model=None,
    epochs=2,
    batch_size=4,
    augment="flip",
)
TEXT = {"text_width": 12, "text_depth": 1, "text_num_heads": 2, "text_mlp_dim": 16}
OF_PAIRS = changes(
    config={**SIZES, **TEXT, "embedding_dim": 8, "context_length": 8, "vocabulary_size": 2514},
    epochs=1,
    warmup_epochs=0,
    batch_size=5,
    augment=[],
    vocabulary=MERGES,
    clean="transformers",
)
WORDS = ("--vocabulary", MERGES, "--clean", "transformers")


def done(result):
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    for split in ("train", "val"):
        for name in ("run", "walk"):
            for number in range(3):
                write_video(folder / split / name / f"{number}.mp4", 6, size=(32, 32))
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    for number in range(15):
        Image.fromarray(noise(16, 16, 3, seed=number)).save(folder / f"{number}.png")
    rows = [f"{number}.png,picture number {number}" for number in range(15)]
    (folder / "list.csv").write_text("\n".join(["path,text", *rows]), "utf-8")
    return folder / "list.csv"


@pytest.mark.prove
def test_clips_from_training_to_a_phone(cli, videos, tmp_path):
    run, model = tmp_path / "run", tmp_path / "run" / "model.keras"
    plan = done(cli("train", "timesformer_clips", videos, "--out", run, *OF_CLIPS, "--dry-run"))
    assert "6 to train, 6 held out, 2 classes" in plan and "4 clips each" in plan
    assert "held-out clips" in done(cli("train", "timesformer_clips", videos, "--out", run,
                                        *OF_CLIPS))  # fmt: skip
    history = (run / "history.csv").read_text()
    resume = cli("train", "timesformer_clips", videos, "--out", run, *OF_CLIPS, "--resume")
    assert done(resume) and (run / "history.csv").read_text() == history

    numbers = tmp_path / "n.json"
    said = done(cli("evaluate", model, videos, "--clips", "2", "--json", numbers))
    assert f"6 clips: accuracy {100 * json.loads(numbers.read_text())['accuracy']:.1f} %" in said

    video = videos / "val" / "run" / "0.mp4"
    expected = runtime.open(model).probabilities_of_video(video, clips=2)
    for profile, out in (("server", tmp_path / "served"), ("npu", tmp_path / "clips.tflite")):
        calibration = ("--calibration", videos)
        done(cli("export", model, "--profile", profile, "--out", out, *calibration))
        found = runtime.open(out)
        assert found.preprocessing == runtime.open(model).preprocessing
        np.testing.assert_allclose(found.probabilities_of_video(video, 2), expected, atol=0.02)
        said = done(cli("predict", out, video, "--clips", "2"))
        assert f"{100 * max(found.probabilities_of_video(video, 2)):.1f} %" in said
    card = json.loads((tmp_path / "served" / "1" / "SERVING.json").read_text("utf-8"))
    assert card["takes"] == "clips of 3 frames, 2 frames of the video apart"
    assert "takes clips" in card["left_out"]["serving_bytes"]
    metadata = (tmp_path / "clips.tflite").read_bytes()
    assert b"A classifier of clips of 3 frames" in metadata


@pytest.mark.prove
def test_pairs_from_training_to_a_server(cli, pairs, tmp_path):
    run, model = tmp_path / "run", tmp_path / "run" / "model.keras"
    plan = done(cli("train", "clip_pairs", pairs, "--out", run, *OF_PAIRS, "--dry-run"))
    assert "12 to train, 3 held out" in plan and "told by val_recall" in plan
    done(cli("train", "clip_pairs", pairs, "--out", run, *OF_PAIRS))
    assert "val_recall" in (run / "history.csv").read_text()

    numbers = tmp_path / "n.json"
    said = done(cli("evaluate", model, pairs, *WORDS, "--json", numbers))
    recall = json.loads(numbers.read_text())["recall"]
    assert f"15 pairs: recall {100 * recall:.1f} %" in said
    done(cli("export", model, "--profile", "server", "--out", tmp_path / "served"))
    assert (tmp_path / "served" / "1" / "saved_model.pb").is_file()

    refused = [
        (("predict", model, pairs), "name some with `keras-vit zero-shot"),
        (("export", model, "--profile", "cpu", "--out", tmp_path / "x.tflite"), "zero-shot CLIP"),
        (("evaluate", model, pairs), "give its own by --vocabulary"),
        (("evaluate", model, pairs, "--by", "knn"), "takes pairs: leave it out"),
        (("evaluate", model, pairs, "--html", "x.html"), "MODEL takes pairs: leave it out"),
    ]
    for command, message in refused:
        result = cli(*command)
        assert result.exit_code == 1 and message in result.stderr, result.output


def test_the_wrong_data_is_named_with_a_remedy(cli, digits, model, videos, tmp_path):
    out = ("--out", tmp_path / "run")
    cases = [
        (("train", "timesformer_clips", digits, *out, *OF_CLIPS), "clips are needed here: put"),
        (("train", "digits", videos, *out), "a recipe such as timesformer_clips"),
        (("train", "clip_pairs", digits, *out, *OF_PAIRS), "a manifest with the columns path"),
        (("evaluate", model, videos), "a recipe such as timesformer_clips"),
    ]
    for command, message in cases:
        result = cli(*command)
        assert result.exit_code == 1
        assert re.search(message, result.stderr) and result.stderr.count("\n") == 1
