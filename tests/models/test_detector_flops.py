import math

import keras
import pytest

from keras_vit.factory import create_detector
from keras_vit.models.detector_flops import pyramid_and_heads
from keras_vit.models.flops import forward_flops, training_flops

FIELDS = {"num_classes": 3, "image_size": (64, 96), "filters": 8, "head_depth": 2, "scales": 2}


def convolutions(model, levels):
    """The products of all convolutions of a built model: kernels by the cells that they make."""
    total = 0
    for layer in model.layers:
        if isinstance(layer, keras.layers.Conv2DTranspose):
            total += math.prod(layer.kernel.shape) * math.prod(layer.input.shape[1:3])
        elif isinstance(layer, keras.layers.Conv2D):
            total += math.prod(layer.kernel.shape) * math.prod(layer.output.shape[1:3])
    for name in ("box_head", "class_head"):
        kernels = [w for w in model.get_layer(name).weights if w.path.endswith("kernel")]
        total += sum(math.prod(w.shape) for w in kernels) * sum(
            math.prod(-(-side // 2**level) for side in model.config.image_size) for level in levels
        )
    fpn = [layer for layer in model.layers if layer.name == "fpn"]
    for weight in fpn[0].weights if fpn else ():
        if weight.path.endswith("kernel"):
            level = int(weight.path.split("/")[-2][-1])
            total += math.prod(weight.shape) * math.prod(
                -(-side // 2**level) for side in model.config.image_size
            )
    return total


@pytest.mark.parametrize(
    ("name", "fields", "levels"),
    [
        ("swin_micro", {"width": 8, "depths": (1, 1, 1, 1), "num_heads": (1, 1, 1, 1)}, (3, 7)),
        ("vit_ti16", {"width": 12, "depth": 1, "num_heads": 3, "mlp_dim": 16}, (3, 6)),
    ],
)
def test_all_convolutions_are_counted(name, fields, levels):
    model = create_detector(name, levels=levels, backbone_fields=fields, **FIELDS)
    expected = convolutions(model, range(levels[0], levels[1] + 1))
    assert pyramid_and_heads(model.config) == expected
    backbone = forward_flops(model.config.backbone_config)
    assert forward_flops(model.config) == backbone + 2 * expected
    assert 2.5 * forward_flops(model.config) < training_flops(model.config)
