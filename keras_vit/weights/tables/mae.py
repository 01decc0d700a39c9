"""The names of masked autoencoders: the authors' (timm's for the encoder), and transformers'."""

import re

from keras_vit.models import ViTConfig
from keras_vit.models.mae import SHARED
from keras_vit.weights.layouts import MATRIX, SAME
from keras_vit.weights.tables import vit_hf, vit_timm
from keras_vit.weights.tables.table import (
    Table,
    entry,
    numbered,
    torch_linear,
    torch_norm,
)


def _encoder(config):
    """The encoder as a ViT's config, and the decoder's blocks as another's."""
    fields = {name: getattr(config, name) for name in SHARED}
    decoder = {
        name: getattr(config, f"decoder_{name}") for name in ("width", "num_heads", "mlp_dim")
    }
    halves = ({}, decoder)
    return tuple(ViTConfig(**{**fields, **half, "num_classes": 0}) for half in halves)


def _decoder_entries(prefix):
    """What is not blocks: the same words in both codes, after a prefix."""
    return [
        *torch_linear("decoder_embed", f"{prefix}decoder_embed", MATRIX, SAME),
        entry("decoder_restored/mask_token", SAME, f"{prefix}mask_token"),
        entry("decoder_positions/position", SAME, f"{prefix}decoder_pos_embed"),
        *torch_norm("decoder_norm", f"{prefix}decoder_norm"),
        *torch_linear("decoder_pixels", f"{prefix}decoder_pred", MATRIX, SAME),
    ]


def _entries(table, block, prefix, blocks):
    def entries(config):
        encoder, decoder = _encoder(config)
        found = [*table.entries(encoder), *_decoder_entries(prefix)]
        for index in range(config.decoder_depth):
            found += block(f"decoder_block_{index}", f"{blocks}.{index}", decoder)
        return found

    return entries


def _facts(table, prefix, blocks, mlp):
    def facts(archive):
        shapes = archive.shapes
        hidden = shapes.get(f"{blocks}.0.{mlp}.weight", (None,))
        return {
            **table.facts(archive),
            "decoder_width": shapes[f"{prefix}decoder_embed.weight"][0],
            "decoder_depth": numbered(archive, re.escape(blocks) + r"\.(\d+)\."),
            "decoder_mlp_dim": hidden[0],
        }

    return facts


def _hf_canonical(archive):
    """transformers 5.24 writes `decoder_encoder.layer`; the hub's files have `decoder_layers`."""
    found = vit_hf.VIT.canonical(archive)
    return found.renamed(lambda name: name.replace("decoder_encoder.layer.", "decoder_layers."))


def _timm_block(ours, theirs, config):
    return vit_timm._block(ours, theirs, config.num_heads, None)


def _hf_block(ours, theirs, config):
    return vit_hf._block(ours, theirs, vit_hf.VIT_NAMES, config)


OFFICIAL = Table(
    vit_timm.canonical,
    _entries(vit_timm.TABLE, _timm_block, "", "decoder_blocks"),
    _facts(vit_timm.TABLE, "", "decoder_blocks", "mlp.fc1"),
    {},
)
HF_BLOCKS = "decoder.decoder_layers"
TRANSFORMERS = Table(
    _hf_canonical,
    _entries(vit_hf.VIT, _hf_block, "decoder.", HF_BLOCKS),
    _facts(vit_hf.VIT, "decoder.", HF_BLOCKS, "intermediate.dense"),
    {},
    lambda config, name: name if name.startswith("decoder.") else f"vit.{name}",
)
