"""`keras-vit zero-shot`."""

import keras
import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.models import CLIP, CLIPConfig
from tests.data.tokens import MERGES
from tests.models.test_clip import TINY

WORDS = ("--vocabulary", MERGES, "--clean", "transformers")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """The file of a small CLIP with the small vocabulary's size, and random weights."""
    keras.utils.set_random_seed(3)
    path = tmp_path_factory.mktemp("clip") / "clip.keras"
    fields = {**TINY, "vocabulary_size": 2514, "context_length": 12, "logit_scale": 4.0}
    CLIP(CLIPConfig(**fields)).save(path)
    return path


def test_pictures_get_the_classes_that_were_told(cli, clip, digits, tmp_path):
    picture = sorted((digits / "0").iterdir())[0]
    kept = tmp_path / "kept.keras"
    classes = ("--labels", "a cat, dog,  emu", "--template", "a photo of {}", "--template", "{}")
    result = cli("zero-shot", clip, picture, *classes, *WORDS, "--top", "2", "--save", kept)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:2] == [f"Kept the classifier as {kept}.", str(picture)]
    # What was kept is a model as any other.
    classifier = runtime.open(kept)
    assert classifier.class_names == ("a cat", "dog", "emu")
    (best,) = classifier.predict_files([picture], top=2)
    assert [line.split("  ")[1].strip() for line in lines[2:]] == [name for name, _ in best]
    assert np.isclose(sum(share for _, share in classifier.predict_files([picture])[0]), 1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--labels", " , "), "`labels` must be one text or more"),
        (("--labels", "a,b", "--template", "a photo"), "with {} where the label is put"),
        (("--labels", "a,b", "--clean", "none"), "`clean` must be one of"),
        (("--labels", "a,b", "--save", "kept.h5"), "--save must end in .keras"),
    ],
)
def test_what_cannot_be_is_one_sentence(cli, clip, more, message):
    result = cli("zero-shot", clip, *WORDS, *more)
    assert result.exit_code == 1
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_another_model_is_refused(cli, model):
    result = cli("zero-shot", model, "--labels", "a,b", *WORDS)
    assert result.exit_code == 1
    assert "MODEL must be the .keras file of a CLIP" in result.stderr
