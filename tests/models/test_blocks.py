from keras_vit.layers import KeptBlock, TransformerBlock
from keras_vit.models import ViTConfig
from keras_vit.models.blocks import block_layers

CONFIG = ViTConfig(width=12, depth=3, num_heads=3, mlp_dim=7, drop_path=0.2, layer_scale=0.5)


def test_each_block_has_what_the_config_says():
    made = block_layers(CONFIG, "float32", TransformerBlock, mlp="swiglu")
    assert [block.name for block in made] == ["block_0", "block_1", "block_2"]
    assert [block.drop_path.rate for block in made] == [0.0, 0.1, 0.2]
    assert {block.get_config()["mlp"] for block in made} == {"swiglu"}


def test_blocks_may_be_of_several_kinds_and_have_their_own_options():
    kinds = [TransformerBlock, KeptBlock, KeptBlock]
    made = block_layers(CONFIG, "float32", kinds, [{"mlp": "swiglu"}, {}, {}])
    assert [type(block) for block in made] == kinds
    assert [block.get_config().get("mlp") for block in made] == ["swiglu", None, None]
