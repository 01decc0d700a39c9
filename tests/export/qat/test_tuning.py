import keras
import numpy as np

from keras_vit.data import from_arrays
from keras_vit.export.qat import quantization_aware
from keras_vit.export.qat.tuning import fine_tune
from tests.small_vit import digit_images, small_vit


def test_some_steps():
    pixels, labels = digit_images()
    records = from_arrays(pixels[:40], labels[:40])
    model = small_vit(depth=1)
    copy = quantization_aware(model, pixels[:40])
    history = fine_tune(copy, records, epochs=1, batch_size=20, learning_rate=1e-3)
    assert np.isfinite(history.history["loss"]).all()
    assert int(copy.optimizer.iterations) == 2
    assert isinstance(copy.optimizer, keras.optimizers.AdamW)
