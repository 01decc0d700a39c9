"""That it answers is tested in `../test_bench_against.py`, where the engine is."""

from keras_vit.cli.bench_against import FILES
from keras_vit.cli.rivals.with_onnxruntime import CALLS


def test_it_has_the_precisions_that_it_is_asked_for():
    assert list(CALLS) == [name for name, engines in FILES.items() if "onnxruntime" in engines]
