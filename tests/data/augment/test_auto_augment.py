import numpy as np

from keras_vit.data.augment import auto_augment
from keras_vit.data.augment.levels import AUTO_AUGMENT
from tests.data.augment.fixture import TIMM
from tests.data.augment.scene import IMAGES, changes, keys, note
from tests.data.augment.test_levels import ours_for


def test_the_policy_is_timms_original():
    theirs = [[(ours_for(name), p, level) for name, p, level in pair] for pair in TIMM["policy"]]
    assert [list(pair) for pair in auto_augment.POLICY] == theirs


def test_pairs_are_drawn_evenly_and_their_changes_by_their_probability(monkeypatch):
    monkeypatch.setattr(auto_augment, "change", note)
    count, names = 6000, [*AUTO_AUGMENT, None]
    seen = changes(auto_augment.AutoAugment(), count).reshape(-1, 2)
    made = [names[int(which)] for which, _ in seen]
    for name in names[:-1]:
        ops = [op for pair in auto_augment.POLICY for op in pair]
        expected = sum(p for op, p, _ in ops if op == name) / 25
        spread = (expected / count) ** 0.5
        assert abs(made.count(name) / count - expected) < 4 * spread, name
    # The level goes with the change: color is drawn at 0, 2, 4 and 8 only.
    drawn = {level for which, level in seen if names[int(which)] == "color"}
    assert drawn == {0.0, 2.0, 4.0, 8.0}


def test_the_second_change_follows_the_first():
    part = auto_augment.AutoAugment()
    outs = np.stack([part(IMAGES[0], key) for key in keys(24)])
    assert outs.dtype == np.uint8 and outs.shape == (24, *IMAGES[0].shape)
    assert len({out.tobytes() for out in outs}) > 8
