"""Writes `.pth` files as PyTorch does, each kind of tensor in them, and their values.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/pth_reference.py [--out tests/fixtures/pth]

`kinds.pth` holds one tensor of each kind, `kinds.npz` the same tensors as PyTorch reads them, in
float32 where numpy has no such floats. `small.pth` is small enough to damage every byte of it.
`legacy.pth` is in the format before PyTorch 1.6, `module.pth` a whole module.
"""

import argparse
import collections
import pathlib

import numpy as np
import torch

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "pth"
NUMPY_LACKS = (torch.bfloat16,)


def kinds():
    """One tensor of each kind."""
    generator = torch.Generator().manual_seed(5)
    base = torch.randn(7, 11, generator=generator)
    whole = torch.randint(0, 100, (3, 5), generator=generator)
    return {
        "float": base,
        "double": base[:2].double(),
        "half": base[:3].half(),
        "bfloat16": base[:5].bfloat16(),
        "long": whole - 50,
        "int": whole.int() - 50,
        "short": whole.short() - 50,
        "char": whole.to(torch.int8) - 50,
        "byte": whole.to(torch.uint8) + 100,
        "bool": whole > 50,
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 7),
        # Views of the one storage of `float`.
        "transposed": base.t(),
        "window": base[2:5, 1::3],
        "element": base[6, 10],
        "expanded": base[3, :3].expand(2, 3),
        "transposed bfloat16": base.bfloat16()[1:].t(),
        "parameter": torch.nn.Parameter(base[:2, :3].clone()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURES)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    tensors = kinds()
    state = collections.OrderedDict(tensors)
    # As the state dict of a module has it: an attribute of the dict itself.
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    options = argparse.Namespace(lr=0.1, name="run", drop=None, sizes=[1, 2])
    torch.save({"args": options, "epoch": 3, "state_dict": state}, out / "kinds.pth")
    values = {
        name: (tensor.float() if tensor.dtype in NUMPY_LACKS else tensor).detach().numpy()
        for name, tensor in tensors.items()
    }
    np.savez_compressed(out / "kinds.npz", **values)
    small = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([7, 8])}
    torch.save(small, out / "small.pth")
    torch.save(small, out / "legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(2, 3), out / "module.pth")


if __name__ == "__main__":
    main()
