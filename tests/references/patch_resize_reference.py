"""Writes the patch kernels that timm resizes for FlexiViT: pseudo-inverse, bicubic with antialias.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/patch_resize_reference.py [--out tests/fixtures/patch_resize.npz]

The file holds, for each pair of patch sizes, `kernel_PxQ` (out, in, row, column) float32 and
`resized_PxQ_to_RxS`, timm's. timm computes in float32, whatever it is given.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "patch_resize.npz"
SIZES = {(4, 4): [(7, 7), (5, 8), (3, 3), (4, 4)], (3, 5): [(6, 10), (7, 4)]}
WIDTH, CHANNELS = 5, 3


def arrays():
    import torch

    timm, _ = import_timm()
    generator, found = np.random.default_rng(2212), {}
    for old, new_sizes in SIZES.items():
        kernel = generator.normal(size=(WIDTH, CHANNELS, *old)).astype("float32")
        name = f"{old[0]}x{old[1]}"
        found[f"kernel_{name}"] = kernel
        for new in new_sizes:
            resized = timm.layers.resample_patch_embed(torch.from_numpy(kernel), list(new))
            found[f"resized_{name}_to_{new[0]}x{new[1]}"] = resized.numpy()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURE)
    np.savez(parser.parse_args().out, **arrays())


if __name__ == "__main__":
    main()
