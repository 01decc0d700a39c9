"""The batching parameters hold what TF Serving asks of them."""

import re

from keras_vit.export.serving.batching import batching_parameters


def test_the_largest_allowed_size_is_the_largest_batch():
    text = batching_parameters((1, 4, 16))
    allowed = [int(size) for size in re.findall(r"allowed_batch_sizes: (\d+)", text)]
    assert allowed == [1, 4, 16]
    assert dict(re.findall(r"(\w+) { value: (\d+) }", text)) == {
        "max_batch_size": "16",
        "batch_timeout_micros": "2000",
        "max_enqueued_batches": "16",
    }
