import keras
import numpy as np
import pytest

from keras_vit.objectives import HardDistillation, SoftDistillation
from keras_vit.step.kinds import kind_of

CLASS = np.array([[1, 2, 0.5], [0.2, -1, 0.3]])
DISTILLATION = np.array([[0.5, 1, -0.5], [1, 0, 0.3]])
TEACHER = np.array([[2, 1, 0], [0, 0.5, 3]])
LABELS = np.eye(3)[[1, 2]]
OUTPUTS = np.stack([CLASS, DISTILLATION, TEACHER], axis=1).astype("float32")


@pytest.mark.parametrize(
    ("loss", "golden"),
    [
        (HardDistillation(), 0.917398),
        (HardDistillation(weight=0.0), 0.621243),
        (HardDistillation(weight=1.0), 1.213552),
        (SoftDistillation(), 0.631069),
        (SoftDistillation(weight=1.0), 9 * 0.159889 / 2),
        # The authors' code: the second part through the number of classes, too.
        (lambda y, z: SoftDistillation(0.5)(y, z) - (1 - 1 / 3) * 0.5 * 9 * 0.159889 / 2, 0.430538),
    ],
)
def test_golden_values(loss, golden):
    assert float(loss(LABELS, OUTPUTS)) == pytest.approx(golden, abs=2e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_against_numpy_with_mixed_labels_and_weights(smoothing):
    random = np.random.default_rng(3)
    outputs = random.normal(size=(5, 3, 7))
    labels = random.dirichlet(np.ones(7), size=5)
    weights = random.uniform(size=5)

    def log_softmax(z):
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))

    smooth = (1 - smoothing) * labels + smoothing / 7
    base = -(smooth * log_softmax(outputs[:, 0])).sum(axis=-1)
    p, q = log_softmax(outputs[:, 2] / 2), log_softmax(outputs[:, 1] / 2)
    soft = 0.75 * base + 0.25 * 4 * (np.exp(p) * (p - q)).sum(axis=-1)
    found = SoftDistillation(0.25, 2.0, smoothing)(labels, outputs.astype("float32"), weights)
    assert float(found) == pytest.approx((soft * weights).mean(), rel=1e-5)
    taught = -log_softmax(outputs[:, 1])[range(5), outputs[:, 2].argmax(axis=-1)]
    found = HardDistillation(0.25, smoothing)(labels, outputs.astype("float32"))
    assert float(found) == pytest.approx((0.75 * base + 0.25 * taught).mean(), rel=1e-5)


def test_without_a_teacher_it_is_the_loss_of_the_labels():
    assert float(HardDistillation()(LABELS, CLASS)) == pytest.approx(0.621243, abs=1e-6)


@pytest.mark.parametrize("loss", [HardDistillation(0.3, 0.1), SoftDistillation(0.3, 2.0, 0.1)])
def test_kind_and_config(loss):
    assert kind_of(loss) == "example"
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(loss))
    assert again.get_config() == loss.get_config()
    assert float(again(LABELS, OUTPUTS)) == float(loss(LABELS, OUTPUTS))


def test_numbers_that_cannot_be():
    with pytest.raises(ValueError, match=r"`weight` must be in \[0, 1\]. Received: 1.5"):
        HardDistillation(1.5)
    with pytest.raises(ValueError, match="`temperature` must be above 0. Received: 0"):
        SoftDistillation(temperature=0)
