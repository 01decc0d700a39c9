import pytest

from keras_vit.cli import recording_kills
from keras_vit.cli.recording_kills import chain, kills


@pytest.mark.prove
def test_a_run_killed_twenty_times_ends_as_one_that_is_left_alone(tmp_path):
    """Dropout, augmentation and averages are on; the end is weights, seeds, averages, history."""
    found = chain(tmp_path, seed=3)
    assert len(found["kills"]) >= 20
    # With the process dead, the temporary file of its save was there.
    assert sum(kill["temporary"] is not None for kill in found["kills"]) >= 8
    assert not any(kill["lost"] for kill in found["kills"])
    assert set(found["ends"]) == {found["uninterrupted"]}


def test_what_is_recorded(tmp_path, monkeypatch):
    asked = []

    def short(folder, seed):
        asked.append(seed)
        lost = seed == 4
        return {
            "uninterrupted": "a",
            "ends": ["a", "b" if seed == 7 else "a"],
            "kills": [
                {"step": 3, "temporary": "step_000000004.safetensors", "lost": False},
                {"step": 9, "temporary": None, "lost": lost},
            ],
        }

    monkeypatch.setattr(recording_kills, "chain", short)
    for _ in range(2):  # the second time it reads what it kept
        assert kills(tmp_path) == {
            "command": "make record ROW=kills",
            "kills": 20,
            "during_a_save": 10,
            "states_lost": 1,
            "runs": 20,
            "runs_with_another_end": 1,
        }
    assert asked == list(range(10))
