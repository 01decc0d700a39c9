"""A server for exported models that speaks TF Serving's protocols, gRPC and REST."""

from keras_vit.export.server.running import Server, run
from keras_vit.export.server.settings import Settings

__all__ = ["Server", "Settings", "run"]
