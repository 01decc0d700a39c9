from keras_vit.export.rewrite.fold_norms import fold_norms
from keras_vit.export.rewrite.norms import self_product
from keras_vit.export.rewrite.self_products import self_products
from tests.export.rewrite.passes import assert_unchanged, outputs, prepared


def test_folded_norms_sum_their_squares_in_a_product():
    model, streams = prepared("vit")
    assert self_products(model, streams)[1] == 0  # a layer norm keeps its own sum
    before = outputs(model)
    model, _ = fold_norms(model, streams)
    model, changed = self_products(model, streams)
    assert changed == 5
    assert model.get_layer("block_0").norm1.mean_square is self_product
    assert_unchanged(outputs(model), before)
