"""Reads the files that weights come in: `.npz`, safetensors, `.pth`."""

from keras_vit.weights.archives.archive import Archive
from keras_vit.weights.archives.open import open_archive

__all__ = ["Archive", "open_archive"]
