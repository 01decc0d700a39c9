"""Distils for a few steps on the backend at hand, and writes the loss of each epoch."""

import json

import keras
import numpy as np

from keras_vit.objectives import Distiller, SoftDistillation, Teacher  # noqa: E402
from tests.objectives.taught import convnet, seen, student  # noqa: E402

RANDOM = np.random.default_rng(7)
IMAGES = RANDOM.normal(size=(8, 4, 4, 1)).astype("float32")
LABELS = RANDOM.dirichlet(np.ones(3), size=8).astype("float32")
pupil = student()
model = Distiller(pupil, Teacher(convnet(), seen(), pupil.preprocessing))
model.compile(keras.optimizers.SGD(0.2), SoftDistillation(weight=0.4), metrics=["accuracy"])
logs = model.fit(IMAGES, LABELS, batch_size=4, epochs=3, shuffle=False, verbose=0).history
print(json.dumps(logs["loss"] + logs["accuracy"]))
