"""The checks that every public layer and model goes through, on any backend."""

import keras

BACKEND = keras.backend.backend()
