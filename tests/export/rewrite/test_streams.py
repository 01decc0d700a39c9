import pytest

from keras_vit.export.rewrite.streams import residual_streams
from tests.export.rewrite.passes import prepared


def test_a_vit_is_one_stream():
    model, (stream,) = prepared("vit")
    paths = [writer.path for writer in stream.writers]
    assert len(paths) == 1 + 2 * 2  # the patches, and in each block attention and MLP
    assert [name for _, name in stream.tables] == ["class_token", "position"]
    assert [norm.name for norm in stream.norms] == ["norm1", "norm2", "norm1", "norm2", "norm"]
    assert stream.closed and all(norm.readers for norm in stream.norms)
    assert residual_streams(model)[0].norms[-1].readers == [(None, "head")]


def test_what_gamma_cannot_move_into():
    """The last norm is the output of a model without a head."""
    _, (stream,) = prepared("dinov2_headless")
    assert [norm.readers is None for norm in stream.norms] == [False] * 4 + [True]


@pytest.mark.parametrize(("name", "closed"), [("swin", [False, False, True])])
def test_only_the_last_stage_is_closed(name, closed):
    """What joins two stages reads the tokens as they are."""
    _, streams = prepared(name)
    assert [stream.closed for stream in streams][-1] is closed[-1]
    assert not all(stream.closed for stream in streams)
