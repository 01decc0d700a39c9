"""Trains a small DynamicViT on one device and on two, and writes how far they end apart: a number.

`python dynamic_replicas.py all|tokens jit|plain`. A process can hold one MirroredStrategy only.

In float64. The batches are of 4, 4 and 3 images, of which the two replicas get halves and 2 + 1.
What each replica draws is its own, so that here the decisions are those by rank: everything else
is the training step. Images keep different numbers of tokens by a decision that looks at them.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

# Before anything uses TensorFlow.
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from keras_vit.layers import TokenDecision  # noqa: E402
from keras_vit.layers.token_decision import straight_through  # noqa: E402
from keras_vit.models import DynamicViTTrainer, ViT, ViTConfig  # noqa: E402
from keras_vit.objectives import DynamicViTLoss, TokenDistillationLoss  # noqa: E402
from keras_vit.step import exact  # noqa: E402

keras.config.set_floatx("float64")
CONFIG = {
    "image_size": 8,
    "patch_size": 2,
    "width": 8,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 7,
    "num_classes": 5,
}
RANDOM = np.random.default_rng(7)
IMAGES, LABELS = RANDOM.normal(size=(11, 8, 8, 3)), RANDOM.integers(0, 5, 11)


def by_score(self, scores, kept=None, training=False):
    """Keeps what is more likely kept than not, as in training with the noise left out."""
    before = 1.0 if kept is None else kept
    return before * straight_through(scores, 0.0 * scores)[..., :1]


def trained(loss, jit_compile=False):
    keras.utils.set_random_seed(5)
    model = ViT(ViTConfig(**CONFIG))
    model = DynamicViTTrainer.from_image_model(model, stage_blocks=[0], keep_ratios=0.7)
    exact(model, clip_norm=0.5)
    random = np.random.default_rng(3)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    decide = model.get_layer("score_0").decide
    decide.bias.assign(np.zeros(2))
    shares = model(IMAGES, training=True)["kept"].numpy()
    assert len(set(shares.ravel().round(6))) > 2, shares
    model.compile(
        keras.optimizers.SGD(0.2, momentum=0.9),
        loss,
        metrics=["accuracy"],
        jit_compile=jit_compile,
    )
    fitted = model.fit(IMAGES, LABELS, batch_size=4, epochs=2, shuffle=False, verbose=0)
    numbers = fitted.history["loss"] + fitted.history["accuracy"]
    numbers += model.evaluate(IMAGES, LABELS, batch_size=4, verbose=0)
    return [weight.numpy() for weight in model.weights] + [np.array(numbers)]


if __name__ == "__main__":
    TokenDecision.call = by_score
    loss = {"all": DynamicViTLoss([0.7]), "tokens": TokenDistillationLoss()}[sys.argv[1]]
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    one = trained(loss)
    with strategy.scope():
        two = trained(loss, jit_compile=sys.argv[2] == "jit")
    print(json.dumps(max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))))
