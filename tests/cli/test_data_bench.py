import itertools

import numpy as np
import tensorflow as tf

from keras_vit.cli import data_bench
from keras_vit.cli.data_bench import BATCH, stages, times
from keras_vit.data import decode, from_arrays
from keras_vit.layers import Preprocessing
from tests.data.pictures import encode, noise, smooth


def test_stages_are_endless_and_end_with_the_training_batch():
    records = from_arrays(noise(5, 20, 18, 3), [0, 1, 0, 1, 0])
    plain, augmented = stages(records, Preprocessing(image_size=16), ["shift", "flip"])
    assert list(plain)[0] == "bare decoder" and list(augmented) == ["shift"]
    for dataset in [plain["bare decoder"], plain["decode"], plain["decode + crop + flip"]]:
        batches = list(itertools.islice(dataset, 2))
        assert [batch.shape for batch in batches] == [(BATCH,), (BATCH,)]
    for dataset in (list(plain.values())[-1], augmented["shift"]):
        images, labels = next(iter(dataset))
        assert images.shape == (BATCH, 16, 16, 3) and labels.shape == (BATCH, 2)


def test_the_bare_decoder_does_what_it_is_compared_with():
    for kind in ("JPEG", "PNG"):
        encoded = tf.constant(encode(smooth(21, 13), kind))
        np.testing.assert_array_equal(data_bench._bare(encoded), decode(encoded))


def test_times_are_medians_by_turns(monkeypatch):
    clock = itertools.count()  # each look takes a second
    monkeypatch.setattr(data_bench.time, "perf_counter", lambda: float(next(clock)))
    dataset = tf.data.Dataset.from_tensors(0).repeat()
    # Start, one batch, look: over after 1 s; a last look makes it 2 s.
    assert times({"a": dataset, "b": dataset}, 0.5) == {"a": BATCH / 2, "b": BATCH / 2}
