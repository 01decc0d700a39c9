"""LayerScale, into the layer that writes what it scales."""

import keras

from keras_vit.export.rewrite.matrices import matrix, set_matrix
from keras_vit.export.rewrite.parts import exchange
from keras_vit.layers.transformer_block import TransformerBlock


def fold_layer_scale(model, streams=()):
    """Scales the columns of attention's output and of the MLP's second product; in place.

    Returns:
        (model, number of weights changed).
    """
    changed = 0
    for block in [layer for layer in model.layers if isinstance(layer, TransformerBlock)]:
        for name, writer in (("scale1", block.attention.out), ("scale2", block.mlp.fc2)):
            scale = getattr(block, name)
            if scale is None:
                continue
            factor = keras.ops.convert_to_numpy(scale.gamma).astype("float64")
            kernel, bias = matrix(writer)
            set_matrix(writer, kernel * factor, bias * factor)
            exchange(block, name, None)
            changed += 2
    return model, changed
