"""Writes what timm's augmentations are told and draw, for the tests of ours.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/augment_reference.py [--out tests/fixtures/augment.json]

The fixture holds
- `levels`: for each change of `rand-m9-mstd0.5-inc1`, and of AutoAugment's policy, what it is told
  at each level, with either sign;
- `policy`: the pairs of AutoAugment's ImageNet policy;
- `boxes`: what CutMix pastes for a share, a centre and a size, and the share that it leaves;
- `targets`: what two labels become, smoothed and mixed.
"""

import argparse
import json
import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "augment.json"
LEVELS = [*range(11), 0.3, 2.6, 8.47, 9.53]
SHARES = [0.0, 0.09, 0.31, 0.5, 0.77, 0.99, 1.0]
CENTRES = [(0, 0), (11, 5), (30, 22), (17, 0)]
SIZE = (31, 23)


def levels(names, auto_augment):
    """Change -> one list a sign of what it is told at each level (None where nothing)."""
    told = {}
    for name in names:
        function = auto_augment.LEVEL_TO_ARG[name]
        rows = []
        for draw in (0.0, 1.0):  # above a half, timm takes the negative
            random.random = lambda draw=draw: draw
            rows.append([function(level, {})[0] if function else None for level in LEVELS])
        told[name] = rows
    return told


def boxes(mixup):
    rows = []
    for share in SHARES:
        for centre in CENTRES:
            draws = iter(centre)
            np.random.randint = lambda *arguments, draws=draws, **_: next(draws)
            box, left = mixup.cutmix_bbox_and_lam((3, *SIZE), share)
            rows.append([share, list(centre), [int(edge) for edge in box], float(left)])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURE)
    arguments = parser.parse_args()
    import_timm()
    import torch
    from timm.data import auto_augment, mixup

    policy = auto_augment.auto_augment_policy_original(auto_augment._HPARAMS_DEFAULT)
    pairs = [[[op.name, op.prob, op.magnitude] for op in pair] for pair in policy]
    target = mixup.mixup_target(torch.tensor([2, 0]), 4, lam=0.7, smoothing=0.1)
    fixture = {
        "at": LEVELS,
        "size": SIZE,
        "rand_augment": levels(auto_augment._RAND_INCREASING_TRANSFORMS, auto_augment),
        "auto_augment": levels(sorted({op[0] for pair in pairs for op in pair}), auto_augment),
        "policy": pairs,
        "boxes": boxes(mixup),
        "targets": target.tolist(),
    }
    arguments.out.write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
