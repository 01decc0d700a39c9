"""Vision Transformers for Keras 3: build, train, prove, and ship them."""

import os
import sys

from keras_vit.version import __version__

__all__ = [
    "ViT",
    "__version__",
    "create_detector",
    "create_model",
    "layers",
    "list_models",
    "models",
    "weights",
]

# The command `keras-vit` imports what each of its commands needs: `--help` does not wait for
# Keras, and a missing backend is told as an error of the command.
if os.path.basename(sys.argv[0]) not in ("keras-vit", "keras-vit.exe"):
    from keras_vit.backend import check_backend

    check_backend()

    from keras_vit import layers, models, weights
    from keras_vit.factory import create_detector, create_model, list_models
    from keras_vit.models import ViT
