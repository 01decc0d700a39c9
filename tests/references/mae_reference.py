"""Writes the fixture of `tests/models/test_mae_parity.py`: transformers' masked autoencoder.

Run in the environment of `tests/references/requirements.txt`:

    python tests/references/mae_reference.py [--out tests/fixtures/mae]

Every parameter but the positions is overwritten with N(0, 0.3) (scales of norms with 1 + noise)
that float32 holds exactly, and the reference runs in float64. The positions are written down from
their formula, since transformers' constructor leaves them zero. `expected.npz` holds `images`
[b, h, w, c], `noise` [b, n], `painted`, `mask` and `loss`.
"""

import pathlib
import shutil
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "mae"


def table(side, width):
    """MAE's positions, element by element: sines and cosines of the column, then of the row."""
    rows = np.zeros((1, 1 + side * side, width))
    for patch in range(side * side):
        row, column = divmod(patch, side)
        for k in range(width // 4):
            angles = [place / 10000 ** (k / (width // 4)) for place in (column, row)]
            for half, angle in enumerate(angles):
                start = half * width // 2 + k
                rows[0, 1 + patch, start] = np.sin(angle)
                rows[0, 1 + patch, start + width // 4] = np.cos(angle)
    return rows


def main(out):
    import_timm()  # what it does for torchvision, transformers needs, too
    import transformers

    config = transformers.ViTMAEConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=36,
        image_size=16, patch_size=4, decoder_hidden_size=16, decoder_num_hidden_layers=2,
        decoder_num_attention_heads=2, decoder_intermediate_size=28, mask_ratio=0.7,
        norm_pix_loss=True,
    )  # fmt: skip
    model = transformers.ViTMAEForPreTraining(config).double().eval()
    random = np.random.default_rng(11)
    tables = {
        "vit.embeddings.position_embeddings": table(4, 24),
        "decoder.decoder_pos_embed": table(4, 16),
    }
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = tables.get(name)
            if value is None:
                value = random.normal(0, 0.3, tuple(parameter.shape))
                value += "norm" in name and name.endswith("weight")
            parameter.copy_(torch.from_numpy(np.float32(value).astype("float64")))
        images = random.normal(size=(3, 16, 16, 3)).astype("float32")
        noise = random.uniform(size=(3, 16)).astype("float32")
        found = model(
            torch.from_numpy(images.transpose(0, 3, 1, 2).astype("float64")),
            noise=torch.from_numpy(noise),
        )
    shutil.rmtree(out, ignore_errors=True)
    model.float().save_pretrained(out)
    np.savez(
        out / "expected.npz",
        images=images,
        noise=noise,
        painted=found.logits.numpy(),
        mask=found.mask.numpy(),
        loss=found.loss.numpy(),
    )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[2]) if sys.argv[1:2] == ["--out"] else FIXTURE)
