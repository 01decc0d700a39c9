"""Small grey pictures that two cores can train on."""

from keras_vit.training.recipes.recipe import Recipe

# A ViT for small grey pictures that two cores can train.
_SMALL = {
    "width": 64,
    "depth": 6,
    "num_heads": 4,
    "mlp_dim": 128,
    "channels": 1,
    # Averaging the patches learns faster from few pictures than a class token does.
    "pooling": "gap",
    "class_token": False,
}
_GREY = {"mean": (0.5,), "std": (0.5,)}

RECIPES = {
    # scikit-learn's 8 x 8 digits, in a minute and a half on two cores.
    "digits": Recipe(
        "vit_ti16",
        config={
            **_SMALL,
            "image_size": 8,
            "patch_size": 2,
            "depth": 3,
            "activation": "gelu_tanh",
            "position": "sincos2d",
        },
        preprocessing=_GREY,
        epochs=100,
        batch_size=64,
        learning_rate=4e-3,
        augment=("shift",),
        label_smoothing=0.1,
    ),
    # 28 x 28 clothes, made for 45 minutes on two cores. Measured there: three blocks on 16 wide
    # tokens learn more in a minute than six, or than 49 narrow tokens, whose attention is slow;
    # moves of three pixels cost more epochs than there are; the exact GELU's gradient takes a
    # quarter of a step.
    "vit_fashion_mnist": Recipe(
        "vit_ti16",
        config={
            **_SMALL,
            "image_size": 28,
            "patch_size": 7,
            "width": 128,
            "depth": 3,
            "mlp_dim": 256,
            "activation": "gelu_tanh",
            "position": "sincos2d",
        },
        preprocessing={"mean": (0.286,), "std": (0.353,)},
        epochs=44,
        learning_rate=2e-3,
        warmup_epochs=1.0,
        augment=("flip", "small_shift"),
        label_smoothing=0.1,
    ),
}
