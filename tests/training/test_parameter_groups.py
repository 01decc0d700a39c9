import keras
import numpy as np

from keras_vit import create_model
from keras_vit.training import freeze
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.parameter_groups import parameter_groups
from keras_vit.training.recipes import Recipe


def tiny():
    keras.utils.set_random_seed(3)
    return create_model(
        "vit_ti16", image_size=8, patch_size=4, width=12, depth=2, num_classes=3, mlp_dim=24
    )


def test_two_groups_of_a_plain_recipe():
    model = tiny()
    rest, kernels = parameter_groups(model, Recipe("vit_ti16", weight_decay=0.3))
    assert (rest.factor, rest.weight_decay) == (1.0, 0.0)
    assert (kernels.factor, kernels.weight_decay) == (1.0, 0.3)
    assert all(path.endswith("kernel") for path in kernels.paths)
    assert rest.parameters + kernels.parameters == model.count_params()
    assert "patch_encoder/position" in rest.paths and "head/bias" in rest.paths


def test_the_groups_are_what_the_optimizer_does():
    """With gradients of zero, a step of AdamW is the decay alone."""
    model = tiny()
    freeze(model, 1)
    chosen = Recipe("vit_ti16", weight_decay=0.3, layer_decay=0.5)
    groups = parameter_groups(model, chosen)
    assert [group.factor for group in groups] == [0.0, 0.5, 0.5, 1.0, 1.0]
    assert [group.weight_decay for group in groups] == [0.0, 0.0, 0.3, 0.0, 0.3]
    before = {variable.path: np.array(variable) for variable in model.weights}
    optimizer = optimizer_of(model, chosen, 0.1)
    optimizer.apply([keras.ops.zeros(variable.shape) for variable in model.trainable_variables])
    after = {variable.path: np.array(variable) for variable in model.weights}
    for group in groups:
        for path in group.paths:
            left = 1 - 0.1 * group.factor * group.weight_decay
            np.testing.assert_allclose(after[path], left * before[path], rtol=1e-6, err_msg=path)
