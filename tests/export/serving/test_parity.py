"""Images and logits travel with the artefact, so that it can be measured anywhere."""

from types import SimpleNamespace

import numpy as np

from keras_vit.export.serving.parity import PROBE, compared


def test_the_probe_holds_the_models_logits(artefacts):
    model = artefacts.model
    with np.load(artefacts["server"] / PROBE) as probe:
        images, logits = probe["images"], probe["logits"]
    assert images.dtype == np.uint8 and len(images) == 4
    np.testing.assert_allclose(model(model.preprocessing.normalize(images)), logits, rtol=1e-5)


def test_a_difference_is_found(tmp_path):
    (tmp_path / PROBE).parent.mkdir()
    images, logits = np.zeros((2, 1, 1, 1), "uint8"), np.array([[0.0, 4.0], [2.0, 0.0]])
    np.savez(tmp_path / PROBE, images=images, logits=logits)

    def signature(images):
        return {"logits": SimpleNamespace(numpy=lambda: logits[::-1])}

    found = compared(signature, tmp_path)
    assert (found.relative, found.top1, found.images) == (1.0, 0.0, 2)
