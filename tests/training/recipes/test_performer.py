from keras_vit.training import RECIPES


def test_the_performer_is_past_its_break_even():
    config = RECIPES["performer_small_patches"].config
    tokens = (config["image_size"] // config["patch_size"]) ** 2
    # A head of 64 has 266 features, and twice that is where it begins to pay.
    assert config["attention"] == "performer" and tokens > 2 * 266
