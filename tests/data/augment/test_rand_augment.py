import numpy as np

from keras_vit.data.augment import RandAugment, TimmRandAugment, levels, rand_augment
from tests.data.augment.scene import changes, note


def recorded(part, count, monkeypatch):
    monkeypatch.setattr(rand_augment, "change", note)
    seen = changes(part, count)
    return seen[..., 0].astype(int), seen[..., 1]


def test_big_visions_choice_is_uniform_and_certain(monkeypatch):
    which, level = recorded(RandAugment(3, 15), 4000, monkeypatch)
    assert which.shape == (4000, 3) and (level == 15).all()
    counts = np.bincount(which.ravel(), minlength=16)
    assert len(counts) == 16
    assert ((counts - 750) ** 2 / 750).sum() < 37.7  # chi squared, 15 degrees of freedom, 0.1 %
    assert abs(np.corrcoef(which.T) - np.eye(3)).max() < 0.06


def test_timms_choice_is_made_half_of_the_times_at_a_normal_level(monkeypatch):
    which, level = recorded(TimmRandAugment(), 4000, monkeypatch)
    left_out = (which == len(levels.TIMM)).mean()
    assert abs(left_out - 0.5) < 0.02
    counts = np.bincount(which[which < 15], minlength=15)
    expected = counts.sum() / 15
    assert ((counts - expected) ** 2 / expected).sum() < 36.1  # 14 degrees of freedom, 0.1 %
    inner = level[level < 10]
    assert level.max() == 10 and abs(np.median(level) - 9) < 0.03
    assert abs((level == 10).mean() - 0.0228) < 0.006  # two deviations above the mean
    assert abs(np.mean(inner < 8.5) - 0.1587 / (1 - 0.0228)) < 0.015
