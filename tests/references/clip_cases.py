"""Small CLIPs that are compared with transformers and OpenCLIP, a fixture each.

Plain data without imports: `clip_reference.py` makes the fixtures from it in the reference
environment, and `tests/models/test_clip_parity.py` reads them in ours.

`config` is ours, of the size `size`; at the size `other` the reference resizes its positions.
"""

CONFIG = {
    "patch_size": 4,
    "width": 24,
    "depth": 2,
    "num_heads": 4,
    "mlp_dim": 36,
    "text_width": 12,
    "text_depth": 2,
    "text_num_heads": 3,
    "text_mlp_dim": 30,
    "embedding_dim": 8,
    "vocabulary_size": 61,
    "context_length": 7,
}
CASES = {
    # transformers' is made for squares; at another size it takes any.
    "transformers": {"kind": "transformers", "size": (16, 16), "other": (24, 12), "config": CONFIG},
    "transformers_gelu": {
        "kind": "transformers",
        "size": (12, 12),
        "other": (8, 8),
        "config": {**CONFIG, "activation": "gelu", "norm_epsilon": 1e-6},
    },
    "open_clip": {
        "kind": "open_clip",
        "size": (16, 16),
        "other": (12, 20),
        "config": {**CONFIG, "activation": "gelu"},
    },
    # SigLIP's bias; no side is the other, which OpenCLIP resizes from squares only.
    "open_clip_bias": {
        "kind": "open_clip",
        "size": (12, 20),
        "other": None,
        "config": {**CONFIG, "activation": "quick_gelu", "logit_bias": -10.0},
    },
}
