import pytest

from keras_vit.models import DynamicViT, DynamicViTConfig
from keras_vit.weights.targets.dynamic_vit import target

SIZES = {"image_size": 32, "width": 12, "depth": 2, "num_heads": 3, "mlp_dim": 7}
SIZES = {**SIZES, "stage_blocks": (1,), "keep_ratios": (0.5,)}


def test_the_note_tells_the_stages():
    model = DynamicViT(DynamicViTConfig(**SIZES))
    fields = target(model).note(model)["fields"]
    assert (fields["stage_blocks"], fields["keep_ratios"]) == ((1,), (0.5,))
    assert target(model).in_the_way == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("activation", "gelu_tanh"),
        ("norm_epsilon", 1e-5),
        ("registers", 1),
        ("pooling", "gap"),
        ("mlp", "swiglu"),
        ("layer_scale", 0.5),
        ("representation_size", 3),
    ],
)
def test_what_the_authors_code_cannot_compute(field, value):
    model = DynamicViT(DynamicViTConfig(**SIZES, **{field: value}))
    assert list(target(model).in_the_way) == [field]
