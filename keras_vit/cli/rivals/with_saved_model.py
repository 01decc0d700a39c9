"""This package's SavedModel, in process."""


def float32(settings):
    """Returns the function to time."""
    import tempfile

    import with_keras_vit  # a file beside this one: see `loop`

    from keras_vit.export import export
    from keras_vit.runtime import open

    model = with_keras_vit.model(settings, "float32")
    # Kept until the process ends: a SavedModel is read from its folder.
    path = export(model, "server", tempfile.mkdtemp() + "/model")
    predictor, images = open(path), 255 * with_keras_vit.drawn(settings)[0].clip(0, 1)
    return lambda: predictor.logits(images)


CALLS = {"float32": float32}
