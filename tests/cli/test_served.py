"""A server in a process of its own."""

import urllib.request

import pytest

from keras_vit.cli.recording_serving import TINY, served_model
from keras_vit.cli.served import Served

pytestmark = pytest.mark.prove


def test_a_life(tmp_path):
    served_model(tmp_path, num_classes=7, **TINY)
    with Served(tmp_path) as served:
        assert served.wait("ready")["models"] == ["vit"]
        assert 0 < served.ready_seconds < served.wait("ready")["seconds"] + 120
        with urllib.request.urlopen(f"http://{served.rest}/v1/models/vit", timeout=60) as answer:
            assert answer.status == 200
        assert served.metric("keras_vit_version_state", model="vit", state="AVAILABLE") == 1
        assert served.metric("keras_vit_version_state", model="vit", state="END") == 0
        with pytest.raises(RuntimeError, match="No .*nothing of this kind"):
            served.wait("nothing of this kind", seconds=0.1)
    assert served.stop() == 0  # it was stopped by the end of the block, and in good order
    assert served.wait("ended")


def test_a_server_that_cannot_start_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="holds no model"):
        Served(tmp_path)
