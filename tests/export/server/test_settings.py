"""Settings that make no sense are refused at once."""

import pytest

from keras_vit.export.server.settings import Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_batch": 0},
        {"queue": 0},
        {"versions": 0},
        {"max_pixels": 0},
        {"timeout_s": 0},
        {"poll_s": -1},
        {"max_body_mb": 0},
        {"batch_timeout_ms": -1},
        {"tls_cert": "a.pem"},
        {"tokens": ("",)},
    ],
)
def test_wrong_settings(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        Settings("models", **wrong)


def test_bytes_of_a_body():
    assert Settings("models", max_body_mb=0.5).max_body == 2**19
