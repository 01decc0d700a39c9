"""The ViT configurations that are compared with timm and transformers, one stored fixture each.

Plain data without imports: `vit_reference.py` makes the fixtures from it in the reference
environment and `tests/models/test_vit_parity.py` reads it in ours, so neither can forget a case.
Sizes are distinct primes where divisibility allows, so that a swapped axis cannot go unseen.
"""

BASE = {
    "image_size": (20, 20),
    "patch_size": (5, 5),
    "channels": 3,
    "width": 21,
    "depth": 2,
    "num_heads": 3,
    "mlp_dim": 43,
    "num_classes": 7,
    "pooling": "token",
    "class_token": True,
    "class_position": True,
    "registers": 0,
    "position": "learned",
    "layer_scale": None,
    "activation": "gelu",
    "norm_epsilon": 1e-6,
    "representation_size": None,
}

RECTANGLE = {"image_size": (12, 35), "patch_size": (3, 7)}
NO_CLASS = {"class_token": False}

# name -> fields that differ from BASE; the part before the first "_" is the reference package.
DIFFERENCES = {
    "timm_token": {},
    "timm_token_wide_image": {"image_size": (10, 35)},
    "timm_token_rectangle": RECTANGLE,
    "timm_token_no_class_position": {**RECTANGLE, "class_position": False, "channels": 5},
    "timm_token_no_position": {"position": "none", "channels": 1},
    "timm_token_gelu_tanh": {"activation": "gelu_tanh"},
    "timm_token_quick_gelu": {"activation": "quick_gelu", "norm_epsilon": 1e-5},
    "timm_token_representation": {"representation_size": 11},
    "timm_token_layer_scale": {**RECTANGLE, "layer_scale": 0.1},
    "timm_token_registers": {"registers": 2},
    "timm_token_registers_no_class_position": {
        **RECTANGLE,
        "registers": 3,
        "class_position": False,
        "layer_scale": 0.1,
    },
    "timm_gap": {**NO_CLASS, "pooling": "gap"},
    "timm_gap_rectangle_gelu_tanh": {
        **RECTANGLE,
        **NO_CLASS,
        "pooling": "gap",
        "activation": "gelu_tanh",
    },
    "timm_gap_class_token": {"pooling": "gap"},
    "timm_gap_registers": {**NO_CLASS, "pooling": "gap", "registers": 2},
    "timm_gap_then_norm": {"pooling": "gap_then_norm"},
    "timm_gap_then_norm_no_class": {**RECTANGLE, **NO_CLASS, "pooling": "gap_then_norm"},
    "timm_map": {**NO_CLASS, "pooling": "map"},
    "timm_map_rectangle_gelu_tanh": {
        **RECTANGLE,
        **NO_CLASS,
        "pooling": "map",
        "activation": "gelu_tanh",
    },
    "timm_map_prefix": {"pooling": "map", "registers": 2},
    "transformers_token": {"norm_epsilon": 1e-12},
    "transformers_token_rectangle": {**RECTANGLE, "norm_epsilon": 1e-12, "channels": 5},
}

CASES = {name: {**BASE, **fields} for name, fields in DIFFERENCES.items()}

# These also store the gradient of sum(logits * cotangent) for every weight.
GRADIENT_CASES = ("timm_token", "timm_map", "timm_token_registers_no_class_position")
