"""The rollout in the graph, against the one in numpy."""

import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.explain import rollout
from keras_vit.export.serving.attention import attention_of

SIZES = {"image_size": (24, 40), "patch_size": 8, "width": 12, "num_heads": 3, "mlp_dim": 24}


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("vit_ti16", {}),
        ("vit_ti16", {"pooling": "gap", "class_token": False}),
        ("deit_ti16", {}),
        ("dinov2_s14_reg", {}),
    ],
)
def test_it_is_that_of_explain(name, fields):
    model = create_model(name, depth=3, num_classes=5, **SIZES, **fields)
    images = np.random.default_rng(0).normal(size=(2, 24, 40, 3)).astype("float32")
    logits, attention = attention_of(model)(images)
    assert attention.shape == (2, 3, 5)
    np.testing.assert_allclose(attention, rollout(model, images), atol=1e-6)
    np.testing.assert_allclose(logits, model(images), atol=1e-6)


def test_attention_of_another_kind_is_refused():
    model = create_model("swin_t", image_size=32, window_size=1, depths=(1, 1, 1, 1), num_classes=5)
    with pytest.raises(ValueError, match="blocks all attend to all tokens"):
        attention_of(model)
