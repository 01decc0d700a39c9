"""That it answers, with as many weights as ours, is tested in `../test_bench_against.py`."""

from keras_vit.cli.rivals import with_timm, with_transformers


def test_it_is_asked_for_the_same_as_timm():
    assert with_transformers.CALLS.keys() == with_timm.CALLS.keys()
