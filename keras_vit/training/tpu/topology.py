"""TPU slices by name, such as `v5e:2x2`: their chips, and their compiler."""

import dataclasses
import math
import os
import re

from keras_vit.layers.extras import require

MOST_CHIPS = 256


@dataclasses.dataclass(frozen=True)
class Chip:
    """A generation of TPU.

    Args:
        gib: HBM of a chip, in GiB.
        axes: number of axes of its torus.
        accelerator: what Google Cloud calls it, before the number of chips or cores.
    """

    gib: int
    axes: int
    accelerator: str


# docs.cloud.google.com/tpu/docs/{v5e,v6e,v5p}, "HBM capacity". v4 is not here: its compiler sees
# two devices a chip without the runtime that joins them.
CHIPS = {
    "v5e": Chip(gib=16, axes=2, accelerator="v5litepod"),
    "v6e": Chip(gib=32, axes=2, accelerator="v6e"),
    "v5p": Chip(gib=95, axes=3, accelerator="v5p"),
}


@dataclasses.dataclass(frozen=True)
class Topology:
    """A slice of a TPU pod.

    Args:
        generation: a key of `CHIPS`.
        shape: chips along each axis of the torus.
    """

    generation: str
    shape: tuple

    @property
    def name(self):
        return f"{self.generation}:{'x'.join(map(str, self.shape))}"

    @property
    def chips(self):
        return math.prod(self.shape)

    @property
    def hbm(self):
        """HBM of a chip in bytes."""
        return CHIPS[self.generation].gib * 2**30

    def one_chip(self):
        """The slice of one chip of this generation."""
        return Topology(self.generation, (1,) * len(self.shape))

    def devices(self):
        """Returns the chips as devices that JAX compiles for, and runs nothing on.

        Raises:
            ImportError: if libtpu is not installed.
        """
        require("libtpu", extra="tpu-check")
        topologies = require("jax.experimental.topologies", extra="tpu-check")
        os.environ.update(self.environment())
        # A host has 2 x 2 chips; a slice of one chip is a host with one.
        bounds = {"chips_per_host_bounds": (1, 1, 1)} if self.chips == 1 else {}
        found = topologies.get_topology_desc(platform="tpu", topology_name=self.name, **bounds)
        return list(found.devices)

    def environment(self):
        """What libtpu reads in place of asking a TPU machine's metadata server."""
        return {
            "TPU_SKIP_MDS_QUERY": "1",
            "TPU_ACCELERATOR_TYPE": f"{CHIPS[self.generation].accelerator}-{self.chips}",
            "TPU_WORKER_HOSTNAMES": "localhost",
            "TPU_WORKER_ID": "0",
            "JAX_PLATFORMS": "cpu",
            # Nothing is run: several compilers may work side by side.
            "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
        }


def topology(name):
    """Returns the `Topology` called `name`.

    Args:
        name: generation and shape, such as `"v5e:2x2"` or `"v5p:2x2x4"`.

    Raises:
        ValueError: for another form, an unknown generation, or a shape that no slice has.

    Example:

    >>> topology("v5e:4x8").chips
    32
    """
    match = re.fullmatch(r"(\w+):(\d+(?:x\d+)*)", name)
    if not match or match[1] not in CHIPS:
        raise ValueError(
            f"`topology` must be a generation ({', '.join(CHIPS)}) and a shape, like 'v5e:2x2'. "
            f"Received: {name!r}."
        )
    generation, shape = match[1], tuple(map(int, match[2].split("x")))
    axes = CHIPS[generation].axes
    if len(shape) != axes:
        raise ValueError(f"A {generation} slice has {axes} axes. Received: {name!r}.")
    found = Topology(generation, shape)
    if not found.chips or found.chips > 1 and any(side % 2 for side in shape[:2]):
        raise ValueError(
            f"The first two sides of a slice are even, since a host has 2 x 2 chips (or 1x1 for "
            f"one chip). Received: {name!r}."
        )
    if found.chips > MOST_CHIPS:
        raise ValueError(f"A slice has at most {MOST_CHIPS} chips here. Received: {name!r}.")
    return found
