"""Vision Transformers for Keras 3: build, train, prove, and ship them."""

from keras_vit.backend import check_backend

check_backend()

from keras_vit import layers, models  # noqa: E402
from keras_vit.factory import create_model, list_models  # noqa: E402
from keras_vit.models import ViT  # noqa: E402
from keras_vit.version import __version__  # noqa: E402

__all__ = ["ViT", "__version__", "create_model", "layers", "list_models", "models"]
