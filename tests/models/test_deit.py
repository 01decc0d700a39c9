import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import DeiT, ViTConfig, deit
from tests.layers.arrays import arrays, close
from tests.models.test_vit_parameters import sizes
from tests.oracles import vit_numpy

# The paper's models. Ours have the two tokens' positions in the tokens: two rows fewer.
PUBLISHED = {"deit_ti16": 5_910_800, "deit_s16": 22_436_432, "deit_b16": 87_338_192}
TINY = {"image_size": 32, "depth": 2, "width": 14, "num_heads": 2, "mlp_dim": 11, "num_classes": 7}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_count(name):
    fields = deit.NAMES[name]
    # The encoder and one head are a ViT's: a second head is all that is added.
    one, two = (sum(sizes(ViTConfig(**{**fields, "depth": d})).values()) for d in (1, 2))
    head = fields["width"] * 1000 + 1000
    count = one + (fields["depth"] - 1) * (two - one) + head
    assert count == PUBLISHED[name] - 2 * fields["width"]


def test_logits_are_the_mean_of_both_heads():
    model = create_model("deit_ti16", **TINY)
    assert type(model) is DeiT
    generator = np.random.default_rng(5)
    for variable in model.weights:
        variable.assign(generator.normal(0.5 * (variable.name == "gamma"), 0.3, variable.shape))
    weights = {v.path: np.asarray(v, "float64") for v in model.weights}
    (images,) = arrays((2, 32, 32, 3))
    config = {**vars(model.config), "class_position": False, "pooling": "token"}
    found = vit_numpy.forward(images, weights, config)
    second = vit_numpy.dense(found["features"][:, 1], weights, "head_distillation")
    assert close(model(images), (found["logits"] + second) / 2)


@pytest.mark.parametrize(
    "wrong",
    [{"registers": 2}, {"pooling": "gap"}, {"num_classes": 0}],
    ids=lambda value: str(value),
)
def test_what_is_no_distilled_deit(wrong):
    with pytest.raises(ValueError, match="A distilled DeiT has `registers=1`"):
        create_model("deit_ti16", **{**TINY, **wrong})
