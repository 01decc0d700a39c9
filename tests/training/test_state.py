import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.training.optimizers import adamw
from keras_vit.training.state import TrainState


def run(width=12):
    model = create_model(
        "vit_ti16", image_size=8, patch_size=4, width=width, depth=2, num_classes=3, mlp_dim=24,
        dropout=0.2, drop_path=0.2,
    )  # fmt: skip
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(adamw(model, 1e-2), loss)
    return TrainState(model)


def steps(state, first, last):
    rng = np.random.RandomState(0)
    batches = [(rng.rand(4, 8, 8, 3), np.eye(3)[rng.randint(3, size=4)]) for _ in range(last)]
    for images, labels in batches[first:]:
        state.model.train_on_batch(images, labels)


def digest(state):
    return {name: np.array(keras.ops.convert_to_numpy(v)) for name, v in state.variables().items()}


def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path):
    state = run()
    steps(state, 0, 2)
    state.save(tmp_path / "state", note=[1])
    steps(state, 2, 4)
    other = run()
    assert other.restore(tmp_path / "state") == {"note": [1]}
    assert other.step == 2
    steps(other, 2, 4)
    expected = digest(state)
    assert any("seed" in name for name in expected)
    for name, value in digest(other).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("damage", ["truncated", "empty", "text"])
def test_a_damaged_file_changes_nothing(tmp_path, damage):
    path = tmp_path / "state"
    run().save(path)
    whole = path.read_bytes()
    path.write_bytes({"truncated": whole[:-7], "empty": b"", "text": b"hello" * 9}[damage])
    state = run()
    before = digest(state)
    with pytest.raises(ValueError, match="state is not a whole training state"):
        state.restore(path)
    for name, value in digest(state).items():
        np.testing.assert_array_equal(value, before[name])


def test_the_state_of_another_model_is_refused(tmp_path):
    run(width=24).save(tmp_path / "state")
    with pytest.raises(ValueError, match="another model or recipe: 'model/.*differs"):
        run().restore(tmp_path / "state")
