"""This package's ViT."""


def calls(settings):
    """Returns name -> function: inference and training step on random images."""
    from keras_vit.factory import create_model
    from keras_vit.training.optimizers import adamw

    names = ("width", "depth", "num_heads", "mlp_dim", "patch_size", "image_size", "num_classes")
    fields = {name: settings[name] for name in names}

    def build(dtype):
        return create_model("vit_b16", dtype=dtype, **fields)

    return keras_calls(build, lambda model: adamw(model, 1e-4, 0.05), settings)


def keras_calls(build, optimizer, settings):
    """The two calls of a Keras model on TensorFlow.

    Args:
        build: policy -> a model from images to logits.
        optimizer: model -> its optimizer.
        settings: see `loop`.
    """
    import keras
    import numpy as np
    import tensorflow as tf

    # In half precision a model that only answers holds half-precision weights, as timm's does.
    half = settings["dtype"] == "bfloat16"
    model = build("mixed_bfloat16" if half else "float32")
    frozen = build("bfloat16") if half else model
    size, batch = settings["image_size"], settings["batch_size"]
    random = np.random.default_rng(0)
    images = tf.constant(random.normal(size=(batch, size, size, 3)).astype("float32"))
    labels = random.integers(0, settings["num_classes"], batch)
    infer = tf.function(lambda images: frozen(images, training=False))
    model.compile(
        optimizer(model),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=bool(tf.config.list_physical_devices("GPU")),
    )
    return {
        "inference": lambda: infer(images).numpy(),
        "training step": lambda: model.train_on_batch(images, labels),
    }
