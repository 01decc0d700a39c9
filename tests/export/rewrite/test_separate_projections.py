from keras_vit.export.rewrite.lean_attention import fold_query_scale
from keras_vit.export.rewrite.separate_projections import (
    SeparateProjections,
    separate_projections,
)
from tests.export.rewrite.passes import assert_unchanged, outputs, prepared


def test_queries_keys_and_values_are_products_of_their_own():
    model, _ = prepared("vit")
    before = outputs(model)
    model, _ = fold_query_scale(model)
    model, changed = separate_projections(model)
    assert changed == 2
    projection = model.get_layer("block_0").attention.inner.qkv
    assert isinstance(projection, SeparateProjections)
    assert [product.name for product in projection.products] == ["query", "key", "value"]
    assert_unchanged(outputs(model), before)
