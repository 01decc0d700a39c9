"""Two real processes on this machine against one; see job.py."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.training.workers import (
    is_chief,
    number_of_workers,
    told_of_a_lost_worker,
    total,
)
from tests.training.workers_of_a_job import ends, results, start

RANDOM = {"dropout": 0.2, "ema": 0.9}


class Place:
    """A strategy as far as it is asked who this process is."""

    def __init__(self, resolver):
        self.cluster_resolver = resolver


def place(cluster, job, index):
    spec = tf.train.ClusterSpec(cluster)
    return Place(tf.distribute.cluster_resolver.SimpleClusterResolver(spec, "", job, index))


@pytest.mark.parametrize(
    "place, number, chief",
    [
        (Place(None), 1, True),
        (place({"worker": ["a:1", "b:1"]}, "worker", 0), 2, True),
        (place({"worker": ["a:1", "b:1"]}, "worker", 1), 2, False),
        (place({"chief": ["c:1"], "worker": ["a:1", "b:1"]}, "worker", 0), 3, False),
        (place({"chief": ["c:1"], "worker": ["a:1", "b:1"]}, "chief", 0), 3, True),
    ],
)
def test_one_worker_is_the_chief(place, number, chief):
    assert number_of_workers(place) == number
    assert is_chief(place) == chief


def test_a_lost_worker_is_told_of_in_one_sentence():
    error = tf.errors.UnavailableError(None, None, "Socket closed")
    two = place({"worker": ["a:1", "b:1"]}, "worker", 0)
    with pytest.raises(RuntimeError, match="Another worker of the job has stopped"):
        with told_of_a_lost_worker(two):
            raise error
    with pytest.raises(tf.errors.UnavailableError), told_of_a_lost_worker(Place(None)):
        raise error


def test_the_total_on_one_device_is_the_value():
    assert total(tf.distribute.get_strategy(), 5).numpy() == 5


def test_two_workers_equal_one_process(tmp_path):
    """Three batches of 4, 4 and 3 images, clipped: weights, history and each batch's logs."""
    one = results(tmp_path / "one")[0]
    two = results(tmp_path / "two", 2)
    assert two[0] == two[1]
    for name in ("weights", "batches"):
        np.testing.assert_allclose(two[0][name], one[name], atol=1e-6, rtol=0)
    for name, values in one["history"].items():
        np.testing.assert_allclose(two[0]["history"][name], values, atol=1e-6, rtol=0)
    # Only the chief writes.
    assert [path.name for path in (tmp_path / "two").iterdir()] == ["0.csv"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return results(tmp_path_factory.mktemp("whole"), 2, **RANDOM)[0]


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    return results(tmp_path_factory.mktemp("half"), half=True)[0]


@pytest.mark.prove
def test_workers_draw_different_masks(uninterrupted):
    """One row a worker: with one mask for both, every mean would be 0 or 2."""
    means = np.asarray(uninterrupted["masks"])
    np.testing.assert_allclose(means, means.round(), atol=1e-5)
    assert {0.0, 1.0, 2.0} == set(means.round())


@pytest.mark.prove
def test_several_steps_in_one_call_change_nothing(uninterrupted, tmp_path):
    again = results(tmp_path, 2, at_once=4, **RANDOM)[0]
    for name in ("digest", "history", "weights"):
        assert again[name] == uninterrupted[name]


@pytest.mark.prove
def test_workers_that_make_their_own_rows_change_nothing(uninterrupted, tmp_path):
    """With a resume in the middle, too."""
    found = ends(start(tmp_path, 2, backup="states", by_worker=True, worker=1, stop_at=5, **RANDOM))
    assert found[1][0] == -9
    again = results(tmp_path, 2, backup="states", by_worker=True, **RANDOM)[0]
    for name in ("digest", "history", "weights"):
        assert again[name] == uninterrupted[name]


@pytest.mark.prove
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_worker_is_told_of_and_the_job_resumes_exactly(uninterrupted, tmp_path, killed):
    found = ends(start(tmp_path, 2, backup="states", worker=killed, stop_at=5, **RANDOM))
    assert found[killed][0] == -9
    code, _, errors = found[1 - killed]
    assert code != 0 and "RuntimeError: Another worker of the job has stopped" in errors
    # The state of step 4, one within an epoch, is the newest; the fifth step is lost.
    assert sorted(path.name for path in (tmp_path / "states").iterdir()) == [
        "step_000000003.safetensors",
        "step_000000004.safetensors",
    ]
    resumed = results(tmp_path, 2, backup="states", **RANDOM)
    for result in resumed:
        assert result["digest"] == uninterrupted["digest"]
        assert result["history"] == uninterrupted["history"]


@pytest.mark.prove
@pytest.mark.parametrize("stop_at", [3, 4])
def test_notice_to_one_worker_stops_all_with_their_state(uninterrupted, tmp_path, stop_at):
    """At 3 the notice is agreed on in the middle of an epoch, at 4 one step before its end."""
    options = {"worker": 1, "stop_at": stop_at, "stop_by": "SIGTERM"}
    found = ends(start(tmp_path, 2, backup="states", **options, **RANDOM))
    assert [code for code, _, _ in found] == [42, 42], found
    assert (tmp_path / "states" / f"step_{stop_at + 1:09d}.safetensors").exists()
    resumed = results(tmp_path, 2, backup="states", **RANDOM)
    for result in resumed:
        assert result["digest"] == uninterrupted["digest"]
        assert result["history"] == uninterrupted["history"]


@pytest.mark.prove
def test_two_replicas_of_one_process_equal_two_workers(uninterrupted, tmp_path):
    mirrored = results(tmp_path, kind="replicas", **RANDOM)[0]
    for name in ("weights", "masks"):
        np.testing.assert_allclose(mirrored[name], uninterrupted[name], atol=1e-6, rtol=0)
    assert keras.tree.map_structure(np.shape, mirrored["history"]) == keras.tree.map_structure(
        np.shape, uninterrupted["history"]
    )


@pytest.mark.prove
@pytest.mark.parametrize(
    "place", [{"kind": "replicas"}, {"number": 2}], ids=["replicas", "workers"]
)
def test_half_precision_and_remat_under_each_strategy(tmp_path, half, place):
    """To the precision of bfloat16, with 8 bits: the shares' gradients are rounded before a sum."""
    found = results(tmp_path, half=True, **place)[0]
    before, one, weights = (
        np.array(w) for w in (half["before"], half["weights"], found["weights"])
    )
    assert np.abs(weights - one).mean() < 0.1 * np.abs(one - before).mean()
    for name in ("loss", "val_loss"):
        np.testing.assert_allclose(found["history"][name], half["history"][name], rtol=1e-2)
