"""KerasHub's ViT."""


def calls(settings):
    """Returns name -> function: inference and training step on random images."""
    import keras
    import keras_hub
    from with_keras_vit import keras_calls  # a file beside this one: see `loop`

    size = settings["image_size"]

    def build(dtype):
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
        return keras.optimizers.AdamW(1e-4, weight_decay=0.05)

    return keras_calls(build, optimizer, settings)
