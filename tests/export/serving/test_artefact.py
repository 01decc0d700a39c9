"""A version on disk, opened by its card."""

import pytest

from keras_vit.export.serving.artefact import Artefact


def test_what_it_holds(artefacts):
    artefact = Artefact(artefacts["server"])
    assert artefact.preprocessing == artefacts.model.preprocessing
    assert artefact.images.shape == (4, 16, 16, 1)
    assert artefact.agreement.relative < 1e-5
    assert artefact.batch("serving_default") is None


def test_a_folder_without_a_card_is_refused(tmp_path):
    with pytest.raises(ValueError, match="SERVING.json cannot be read"):
        Artefact(tmp_path)
