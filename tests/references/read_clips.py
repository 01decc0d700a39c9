"""What transformers' TimeSformer computes from saved folders.

Usage: read_clips.py CLIPS FOLDER ...; CLIPS is an `.npy` `[b, t, h, w, c]`; each FOLDER gets
`outputs.npy`.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402


def main(clips, folders):
    import_timm()  # what it does for torchvision, transformers needs, too
    import torch
    from transformers import TimesformerForVideoClassification

    x = torch.from_numpy(np.load(clips).transpose(0, 1, 4, 2, 3).copy())
    for folder in folders:
        model = TimesformerForVideoClassification.from_pretrained(folder).eval()
        with torch.no_grad():
            np.save(Path(folder) / "outputs.npy", model(x).logits.numpy())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
