"""The recorded proof of detection: garments found on photographs, none of either seen before."""

import json
import time

import keras

from keras_vit.cli.scenes import SIDE, write_scenes
from keras_vit.data import open_data
from keras_vit.data.box_batches import box_batches
from keras_vit.models import Detector, DetectorConfig
from keras_vit.objectives.detection_loss import DetectionLoss
from keras_vit.runtime.detector import open_detector
from keras_vit.step import exact
from keras_vit.training.box_evaluation import evaluate_boxes
from keras_vit.training.fitting import fit
from keras_vit.training.optimizers import adamw

# KerasHub's heads and pyramid as small as they pay.
FIELDS = {
    "backbone": "swin_micro",
    "image_size": SIDE,
    "levels": (3, 5),
    "filters": 64,
    "head_depth": 2,
}
AUGMENT = ("inception_crop((0.5, 1.0))", "flip", "color_jitter(0.3, 0.3, 0.3)")


def detection(work, source, scenes=8000, tested=500, epochs=20, batch_size=32, fields=FIELDS):
    """Trains a small detector on scenes, and measures it on others.

    Args:
        work: folder for the scenes and the states: a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        scenes, epochs, batch_size: how much is learned from.
        tested: number of scenes that it is measured on; their garments and their photographs are
            in no scene that was learned from.
        fields: of the `DetectorConfig`.

    Returns:
        The figures.
    """
    train = open_data(write_scenes(source, work / "scenes", scenes, "train", seed=1))
    test = open_data(write_scenes(source, work / "scenes", tested, "test", seed=2))
    model = new_detector(train.class_names, fields)
    steps = scenes // batch_size
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps * epochs, warmup_target=1e-3, warmup_steps=steps
    )
    model.compile(adamw(model, rate, weight_decay=0.05), DetectionLoss.of(model))
    clock = Clock(work / "minutes.json")
    data = lambda step: box_batches(  # noqa: E731
        train, model.preprocessing, batch_size, seed=3, start_step=step, augment=AUGMENT
    )
    history = fit(model, data, epochs, steps, callbacks=[clock], backup=work / "states")
    model.save(work / "model.keras")
    found = evaluate_boxes(open_detector(model), test, batch_size)
    return {
        "command": "make record ROW=detection",
        "scenes": {"train": scenes, "test": tested},
        "epochs": epochs,
        "batch_size": batch_size,
        "parameters": model.count_params(),
        "training_minutes": round(clock.minutes, 1),
        "loss": [round(loss, 4) for loss in history.history["loss"]],
        **{name: _rounded(value) for name, value in found.summary().items()},
    }


def new_detector(class_names, fields=FIELDS, seed=0):
    """Returns a detector that is not trained, with the exact step."""
    keras.utils.set_random_seed(seed)
    config = DetectorConfig(**fields, num_classes=len(class_names))
    config = config.named(class_names)
    return exact(Detector(config), clip_norm=1.0)


class Clock(keras.callbacks.Callback):
    """Adds up the minutes of all epochs, over interruptions too.

    Args:
        path: file that holds them.
    """

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.minutes = json.loads(path.read_text()) if path.exists() else 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.minutes += (time.perf_counter() - self.start) / 60
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.minutes))


def _rounded(value):
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list):
        return [{key: _rounded(one) for key, one in row.items()} for row in value]
    return value
