"""This package's ViT, or a published model of it by name."""

PACKAGE = "keras_vit"
FIELDS = ("width", "depth", "num_heads", "mlp_dim", "patch_size", "image_size", "num_classes")


def model(settings, dtype):
    """Returns a model of random weights."""
    from keras_vit.factory import create_model

    if "model" in settings:
        return create_model(settings["model"], dtype=dtype)
    fields = {name: settings[name] for name in FIELDS}
    return create_model("vit_b16", dtype=dtype, **fields)


def optimizer(model):
    """Returns what trains it."""
    from keras_vit.training.optimizers import adamw

    return adamw(model, 1e-4, 0.05)


def keras_inference(build, settings):
    """Returns the function to time for a Keras model on TensorFlow.

    Args:
        build: (settings, dtype) -> a model from images to logits.
        settings: see `loop`.
    """
    import tensorflow as tf

    # In half precision a model that only answers holds half-precision weights, as timm's does.
    model = build(settings, settings["dtype"])
    images = tf.constant(drawn(settings)[0])
    on_gpu = bool(tf.config.list_physical_devices("GPU"))
    infer = tf.function(lambda images: model(images, training=False), jit_compile=on_gpu)
    return lambda: infer(images).numpy()


def keras_training_step(build, optimizer, settings):
    """Returns the function to time for a Keras model; the first call makes the optimizer."""
    import keras
    import tensorflow as tf

    half = settings["dtype"] == "bfloat16"
    model = build(settings, "mixed_bfloat16" if half else "float32")
    images, labels = drawn(settings)

    def step():
        if not model.compiled:
            model.compile(
                optimizer(model),
                keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                jit_compile=bool(tf.config.list_physical_devices("GPU")),
            )
        return model.train_on_batch(images, labels)

    return step


def drawn(settings):
    """Returns random images, or clips, and labels."""
    import numpy as np

    size, batch = settings["image_size"], settings["batch_size"]
    random = np.random.default_rng(0)
    clip = (settings["frames"],) if "frames" in settings else ()
    images = random.normal(size=(batch, *clip, size, size, 3)).astype("float32")
    return images, random.integers(0, settings["num_classes"], batch)


CALLS = {
    "inference": lambda settings: keras_inference(model, settings),
    "training step": lambda settings: keras_training_step(model, optimizer, settings),
}
