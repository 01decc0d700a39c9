"""timm's names for the hybrids: those of the ViT, and those of the ResNet before it."""

from keras_vit.weights.layouts import CONV
from keras_vit.weights.tables import vit_timm
from keras_vit.weights.tables.table import Table, entry, numbered, torch_norm

BACKBONE = "patch_embed.backbone"


def entries(config):
    """The entries of a hybrid."""
    root = f"{BACKBONE}.stem" if config.units else BACKBONE
    found = _pair("root_conv", f"{root}.conv", "root_norm", f"{root}.norm")
    index = 0
    for stage, depth in enumerate(config.units):
        for unit in range(depth):
            found += _unit(f"unit_{index}", f"{BACKBONE}.stages.{stage}.blocks.{unit}", not unit)
            index += 1
    return found + vit_timm.entries(config)


def _unit(ours, theirs, first):
    found = []
    for n in (1, 2, 3):
        conv, norm = f"{ours}/conv{n}", f"{ours}/norm{n}"
        found += _pair(conv, f"{theirs}.conv{n}", norm, f"{theirs}.norm{n}")
    if first:
        conv, norm = f"{ours}/shortcut_conv", f"{ours}/shortcut_norm"
        found += _pair(conv, f"{theirs}.downsample.conv", norm, f"{theirs}.downsample.norm")
    return found


def _pair(conv, their_conv, norm, their_norm):
    """A convolution and the norm after it."""
    return [
        entry(f"{conv}/kernel", CONV, f"{their_conv}.weight"),
        *torch_norm(norm, their_norm),
    ]


def facts(archive):
    """What the shapes say of the architecture."""
    shapes, stages = archive.shapes, f"{BACKBONE}.stages"
    root = shapes.get(f"{BACKBONE}.stem.conv.weight") or shapes[f"{BACKBONE}.conv.weight"]
    units = tuple(
        numbered(archive, rf"{stages}\.{stage}\.blocks\.(\d+)\.")
        for stage in range(numbered(archive, rf"{stages}\.(\d+)\."))
    )
    found, stride = vit_timm.facts(archive), 4 * 2 ** max(len(units) - 1, 0)
    return {
        **found,
        "units": units,
        "root_width": root[0],
        "channels": root[1],
        # Of the image: the projection's kernel lies on the map.
        "patch_size": tuple(side * stride for side in found["patch_size"]),
    }


TABLE = Table(vit_timm.canonical, entries, facts, vit_timm.UNUSED)
