"""KerasHub's ViT."""

PACKAGE = "keras_hub"


def model(settings, dtype):
    """Returns a model of random weights."""
    import keras_hub

    size = settings["image_size"]
    backbone = keras_hub.models.ViTBackbone(
        image_shape=(size, size, 3),
        patch_size=settings["patch_size"],
        num_layers=settings["depth"],
        num_heads=settings["num_heads"],
        hidden_dim=settings["width"],
        mlp_dim=settings["mlp_dim"],
        dtype=dtype,
    )
    return keras_hub.models.ViTImageClassifier(
        backbone, num_classes=settings["num_classes"], preprocessor=None, dtype=dtype
    )


def optimizer(model):
    """Returns what trains it: Keras's own."""
    import keras

    return keras.optimizers.AdamW(1e-4, weight_decay=0.05)


def inference(settings):
    """Returns the function to time."""
    from with_keras_vit import keras_inference  # a file beside this one: see `loop`

    return keras_inference(model, settings)


def training_step(settings):
    """Returns the function to time; the first call makes the optimizer."""
    from with_keras_vit import keras_training_step

    return keras_training_step(model, optimizer, settings)


CALLS = {"inference": inference, "training step": training_step}
