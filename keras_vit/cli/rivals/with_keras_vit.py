"""This package's ViT."""


def calls(settings):
    """Returns name -> function: inference and training step on random images."""
    from keras_vit.factory import create_model

    names = ("width", "depth", "num_heads", "mlp_dim", "patch_size", "image_size", "num_classes")
    fields = {name: settings[name] for name in names}
    return keras_calls(lambda dtype: create_model("vit_b16", dtype=dtype, **fields), settings)


def keras_calls(build, settings):
    """The two calls of a Keras model on TensorFlow.

    Args:
        build: policy -> a model from images to logits.
        settings: see `loop`.
    """
    import keras
    import numpy as np
    import tensorflow as tf

    half = settings["dtype"] == "bfloat16"
    model = build("mixed_bfloat16" if half else "float32")
    size, batch = settings["image_size"], settings["batch_size"]
    random = np.random.default_rng(0)
    images = tf.constant(random.normal(size=(batch, size, size, 3)).astype("float32"))
    labels = random.integers(0, settings["num_classes"], batch)
    infer = tf.function(lambda images: model(images, training=False))
    model.compile(
        keras.optimizers.AdamW(1e-4, weight_decay=0.05),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=bool(tf.config.list_physical_devices("GPU")),
    )
    return {
        "inference": lambda: infer(images).numpy(),
        "training step": lambda: model.train_on_batch(images, labels),
    }
