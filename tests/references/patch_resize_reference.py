"""Writes patch kernels that timm resizes to other patch sizes, in float64.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/patch_resize_reference.py [--out tests/fixtures/patch_resize.npz]

The fixture holds `kernel_HxW` [width, channels, h, w], as PyTorch keeps it, and for each new size
`resized_HxW_to_HxW`: `timm.layers.resample_patch_embed` with its defaults, bicubic and antialiased.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "patch_resize.npz"
WIDTH, CHANNELS = 3, 2
# Larger, smaller, and one side each way.
CASES = {(4, 4): [(5, 7), (6, 6), (3, 2), (3, 7)], (7, 5): [(4, 3), (11, 6)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURE)
    arguments = parser.parse_args()
    import_timm()
    import torch
    from timm.layers import patch_embed

    # timm computes in float32 on the way; the same code, more exactly.
    patch_embed.DTYPE_INTERMEDIATE = torch.float64
    patch_embed._apply_resampling.__defaults__ = (torch.float64,)
    generator, arrays = np.random.default_rng(20261), {}
    for size, new_sizes in CASES.items():
        name = f"{size[0]}x{size[1]}"
        kernel = generator.normal(size=(WIDTH, CHANNELS, *size))
        arrays[f"kernel_{name}"] = kernel
        for new in new_sizes:
            resized = patch_embed.resample_patch_embed(torch.from_numpy(kernel), list(new))
            arrays[f"resized_{name}_to_{new[0]}x{new[1]}"] = resized.numpy()
    np.savez(arguments.out, **arrays)


if __name__ == "__main__":
    main()
