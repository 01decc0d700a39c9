"""Writes a trained model for servers, phones and NPUs."""

from keras_vit.export.exporter import export
from keras_vit.export.profiles import PROFILES, Profile

__all__ = ["PROFILES", "Profile", "export"]
