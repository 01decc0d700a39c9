"""The names of DynamicViT: those of the authors, who use timm's for what is a ViT's."""

from keras_vit.weights.layouts import MATRIX, SAME
from keras_vit.weights.tables import vit_timm
from keras_vit.weights.tables.table import Table, numbered, torch_linear, torch_norm

# Our layer of the prediction module -> theirs; the numbers between are activations'.
DENSE = {
    "enter": "in_conv.1",
    "half": "out_conv.0",
    "quarter": "out_conv.2",
    "decide": "out_conv.4",
}


def entries(config):
    """The entries of a DynamicViT."""
    found = vit_timm.entries(config)
    for stage in range(len(config.stage_blocks)):
        ours, theirs = f"score_{stage}", f"score_predictor.{stage}"
        found += torch_norm(f"{ours}/norm", f"{theirs}.in_conv.0")
        for layer, name in DENSE.items():
            found += torch_linear(f"{ours}/{layer}", f"{theirs}.{name}", MATRIX, SAME)
    return found


def facts(archive):
    """What the shapes say of the architecture; which blocks the stages stand before they do not."""
    stages = numbered(archive, r"score_predictor\.(\d+)\.")
    if not stages:
        raise ValueError("there is no score_predictor: it is a plain ViT")
    return vit_timm.facts(archive)


TABLE = Table(vit_timm.canonical, entries, facts, vit_timm.UNUSED)
