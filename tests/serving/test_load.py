"""The recorded load, shorter: 64 clients, a full queue, memory."""

import json

import pytest

from keras_vit.cli.recording_serving import serving


@pytest.mark.prove
def test_64_clients_get_their_own_answers(tmp_path, capsys):
    found = serving(tmp_path, seconds=8)
    with capsys.disabled():  # the figures are for whoever reads the log of the proof
        print("\n" + json.dumps(found, indent=2))
    for name in ("batched", "one_by_one", "short_queue"):
        part = found[name]
        assert part["answered"] > 0
        assert (part["wrong"], part["failed"], part["lost"]) == (0, 0, 0), part["failures"]
    # Nobody is refused while the queue holds as many as there are clients, and some when not.
    assert found["batched"]["refused"] == found["one_by_one"]["refused"] == 0
    assert found["short_queue"]["refused"] > 0
    assert found["one_by_one"]["images_a_batch"] == 1 < found["batched"]["images_a_batch"]
    assert found["memory"]["growth"] <= 0.05
