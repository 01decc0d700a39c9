"""This package's TFLite files in LiteRT."""


def runner(settings, profile):
    """Returns the function to time: one image after the other, as these files take them."""
    import tempfile

    import with_keras_vit  # a file beside this one: see `loop`

    from keras_vit.export import export
    from keras_vit.runtime import open

    model = with_keras_vit.model(settings, "float32")
    with tempfile.TemporaryDirectory() as folder:
        predictor = open(export(model, profile, folder + "/model.tflite"))
    images = 255 * with_keras_vit.drawn(settings)[0].clip(0, 1)
    return lambda: predictor.logits(images)


CALLS = {
    "float32": lambda settings: runner(settings, "float32"),
    "dynamic int8": lambda settings: runner(settings, "cpu"),
}
