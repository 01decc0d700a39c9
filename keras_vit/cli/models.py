"""`keras-vit models`."""

from keras_vit.cli.console import out


def models():
    """List the names of the models that can be built."""
    from keras_vit.factory import list_models

    out.print("\n".join(list_models()))
