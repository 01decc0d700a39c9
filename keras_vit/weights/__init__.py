"""The border: weights of other codes come in here, and go out again."""

from keras_vit.weights.adapted import adapted
from keras_vit.weights.catalog import CatalogEntry, catalog, list_weights
from keras_vit.weights.conventions import CONVENTIONS, ConventionsDiffer
from keras_vit.weights.keras_hub import from_keras_hub, to_keras_hub
from keras_vit.weights.load import load
from keras_vit.weights.report import Report
from keras_vit.weights.resample import RESIZES, resize_grid, resize_patches
from keras_vit.weights.saving import save
from keras_vit.weights.sources import SOURCES

__all__ = [
    "CONVENTIONS",
    "RESIZES",
    "SOURCES",
    "CatalogEntry",
    "ConventionsDiffer",
    "Report",
    "adapted",
    "catalog",
    "from_keras_hub",
    "list_weights",
    "load",
    "resize_grid",
    "resize_patches",
    "save",
    "to_keras_hub",
]
