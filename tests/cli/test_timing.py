"""The median time of a call."""

from keras_vit.cli import timing
from keras_vit.cli.timing import median_seconds


def fake_clock(monkeypatch, durations):
    """Lets each call take the next of `durations`, in seconds."""
    now = [0.0]
    remaining = iter(durations)
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])

    def call():
        now[0] += next(remaining)

    return call


def test_the_median_of_what_comes_after_the_warmup(monkeypatch):
    call = fake_clock(monkeypatch, [100, 100, 1, 5, 2])
    assert median_seconds(call, repeats=3, warmup=2, limit=1000) == 2


def test_no_call_is_started_after_the_limit(monkeypatch):
    call = fake_clock(monkeypatch, [4, 4, 4])
    assert median_seconds(call, repeats=30, warmup=0, limit=10) == 4


def test_one_call_is_timed_however_slow_the_warmup(monkeypatch):
    call = fake_clock(monkeypatch, [50, 7])
    assert median_seconds(call, repeats=30, warmup=1, limit=10) == 7
