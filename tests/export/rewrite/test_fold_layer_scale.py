from keras_vit.export.rewrite.fold_layer_scale import fold_layer_scale
from tests.export.rewrite.passes import assert_unchanged, outputs, prepared


def test_scales_move_into_the_writers():
    model, _ = prepared("dinov2")
    before = outputs(model)
    model, changed = fold_layer_scale(model)
    assert changed == 2 * 2 * 2
    assert_unchanged(outputs(model), before)
    assert model.get_layer("block_1").scale1 is None and model.get_layer("block_1").scale2 is None
    assert fold_layer_scale(model)[1] == 0
