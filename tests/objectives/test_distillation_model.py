import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.models import ViT
from keras_vit.objectives import Distiller, HardDistillation, SoftDistillation, Teacher
from tests.objectives.taught import convnet, seen, student

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(2)
IMAGES = RANDOM.normal(size=(6, 4, 4, 1)).astype("float32")
LABELS = np.eye(3, dtype="float32")[[0, 1, 2, 2, 1, 0]]


def distiller(kind=None, **options):
    pupil = student(**options) if kind is None else student(kind, **options)
    return Distiller(pupil, Teacher(convnet(), seen(), pupil.preprocessing))


def test_what_it_gives():
    model = distiller()
    heads = keras.Model(
        model.student.input,
        [model.student.get_layer(name).output for name in ("head", "head_distillation")],
    )(IMAGES)
    taught = model(IMAGES, training=True)
    for part, expected in enumerate([*heads, model.teacher(IMAGES)]):
        np.testing.assert_allclose(taught[:, part], expected, atol=1e-6)
    np.testing.assert_array_equal(model(IMAGES), model.student(IMAGES))
    logits = RANDOM.normal(size=(6, 3)).astype("float32")
    given = Distiller(model.student)({"images": IMAGES, "teacher": logits}, training=True)
    np.testing.assert_array_equal(given[:, 2], logits)
    np.testing.assert_array_equal(given[:, :2], taught[:, :2])


def test_a_student_of_one_head_learns_from_both_by_it():
    taught = distiller(ViT)(IMAGES, training=True)
    np.testing.assert_array_equal(taught[:, 0], taught[:, 1])


@pytest.mark.parametrize("jit_compile", [False, True])
def test_fit_trains_the_student_alone(jit_compile):
    model = distiller()
    teacher = [weight.numpy() for weight in model.teacher.weights]
    pupil = [weight.numpy() for weight in model.student.weights]
    model.compile("sgd", HardDistillation(), metrics=["accuracy"], jit_compile=jit_compile)
    logs = model.fit(IMAGES, LABELS, batch_size=6, epochs=1, verbose=0).history
    labels = model.student
    assert labels.trainable_variables == model.trainable_variables
    for weight, value in zip(model.teacher.weights, teacher, strict=True):
        np.testing.assert_array_equal(weight, value)
    for weight, value in zip(model.student.weights, pupil, strict=True):
        assert np.abs(weight.numpy() - value).max() > 0, weight.path
    model.student.set_weights(pupil)
    hits = np.argmax(model.student(IMAGES), axis=-1) == LABELS.argmax(axis=-1)
    assert logs["accuracy"][0] == pytest.approx(hits.mean())
    loss = HardDistillation()(LABELS, model(IMAGES, training=True))
    assert logs["loss"][0] == pytest.approx(float(loss), rel=1e-5)


def test_mixed_precision_and_file(tmp_path):
    model = distiller(dtype="mixed_bfloat16")
    assert model(IMAGES, training=True).dtype == "float32"
    model.compile("sgd", SoftDistillation(), jit_compile=False)
    assert np.isfinite(model.fit(IMAGES, LABELS, verbose=0).history["loss"][0])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras", compile=False)
    np.testing.assert_array_equal(again(IMAGES, training=True), model(IMAGES, training=True))


def test_other_classes():
    pupil = student()
    given = pupil.preprocessing
    with pytest.raises(ValueError, match="Received: 4 of the teacher, 3 of the student"):
        Distiller(pupil, Teacher(convnet(classes=4), seen(), given))
    other = seen(names=("coat", "shoe", "shirt"))
    with pytest.raises(ValueError, match="'shoe' of the teacher where the student has 'shirt'"):
        Distiller(pupil, Teacher(convnet(), other, given))


def test_without_a_teacher_its_logits_are_asked_for():
    with pytest.raises(ValueError, match="its logits must come with the images"):
        Distiller(student())(IMAGES, training=True)


def run(script, *arguments, **environment):
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
        "PYTHONPATH": str(HERE.parents[1]),
        **environment,
    }
    command = [sys.executable, HERE / script, *arguments]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-4000:]
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("loss", "program"),
    [("hard", "plain"), pytest.param("soft", "jit", marks=pytest.mark.prove)],
)
def test_two_replicas_train_as_one_device(loss, program):
    assert run("distillation_replicas.py", loss, program) < 1e-12


@pytest.mark.prove
def test_jax_trains_as_tensorflow():
    ours = run("distillation_steps.py")
    theirs = run("distillation_steps.py", KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
    np.testing.assert_allclose(theirs, ours, rtol=1e-4)
