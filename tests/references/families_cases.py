"""Small models of the other families, compared with timm and transformers: a fixture each.

Plain data without imports: `families_reference.py` makes the fixtures from it in the reference
environment, and `tests/models/test_families_parity.py` reads them in ours.

A case names what makes the reference (`kind`, `arguments`), the config of ours that it stands for
(`model`, `config`), the size of its images (`size`), and further sizes, for which the reference
resizes its tables (`sizes`).
"""

CLASSES = 7

SWIN = {
    "patch_size": 2,
    "embed_dim": 8,
    "depths": (2, 2, 2),
    "num_heads": (2, 4, 4),
    "window_size": 4,
    "mlp_ratio": 1.5,
    "num_classes": CLASSES,
}
OUR_SWIN = {
    "patch_size": 2,
    "width": 8,
    "depths": (2, 2, 2),
    "num_heads": (2, 4, 4),
    "window_size": 4,
    "mlp_ratio": 1.5,
}
COATNET = {"embed_dim": (6, 10, 14, 21), "depths": (2, 1, 2, 2), "stem_width": 5}
OUR_COATNET = {
    "stem_width": 5,
    "head_dim": 7,
    "stages": (
        ("conv", 6, 2, True),
        ("conv", 10, 1, True),
        ("attention", 14, 2, True),
        ("attention", 21, 2, True),
    ),
}
HYBRID = {"embed_dim": 12, "depth": 1, "num_heads": 3, "mlp_ratio": 1.5, "num_classes": CLASSES}
OUR_HYBRID = {"width": 12, "depth": 1, "num_heads": 3, "mlp_dim": 18}

TIMESFORMER = {
    "patch_size": 4,
    "num_frames": 3,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 18,
    "num_labels": CLASSES,
}
OUR_TIMESFORMER = {
    "patch_size": 4,
    "frames": 3,
    "width": 12,
    "depth": 2,
    "num_heads": 3,
    "mlp_dim": 18,
}

CASES = {
    **{
        f"timesformer_{ours}": {
            "kind": "timesformer",
            "arguments": {**TIMESFORMER, "attention_type": theirs},
            "model": "TimeSformer",
            "config": {**OUR_TIMESFORMER, "space_time": ours},
            "frames": (3,),
            "size": (12, 12),
            # transformers wants a number of patches that 3, a side of the square, divides.
            "sizes": ((8, 24),),
        }
        for ours, theirs in (
            ("divided", "divided_space_time"),
            ("joint", "joint_space_time"),
            ("space_only", "space_only"),
        )
    },
    "swin": {
        "kind": "swin",
        "arguments": SWIN,
        "model": "Swin",
        "config": OUR_SWIN,
        "size": (32, 64),
        # At (16, 32), windows of the last stage are 2 x 4.
        "sizes": ((16, 32),),
    },
    # No side is divided by what it should be, anywhere: patches, windows and merging are padded.
    "swin_padded": {
        "kind": "swin_transformers",
        "arguments": SWIN,
        "model": "Swin",
        "config": OUR_SWIN,
        "size": (43, 37),
        "sizes": (),
    },
    "coatnet": {
        "kind": "coatnet",
        "arguments": {**COATNET, "head_hidden_size": 11},
        "model": "CoAtNet",
        "config": {**OUR_COATNET, "pooling": "gap_then_norm", "representation_size": 11},
        "size": (64, 64),
        "sizes": ((64, 96),),
    },
    "coatnet_paper": {
        "kind": "coatnet",
        "arguments": COATNET,
        "conv": {"stride_mode": "1x1", "pool_type": "max2"},
        "transformer": {"pool_type": "max2"},
        "model": "CoAtNet",
        "config": {**OUR_COATNET, "pool": "max", "stride_in": "expansion"},
        "size": (32, 96),
        "sizes": (),
    },
    "hybrid": {
        "kind": "hybrid",
        "arguments": HYBRID,
        "units": (1, 1),
        "patch": 1,
        "model": "Hybrid",
        "config": {**OUR_HYBRID, "units": (1, 1), "root_width": 32, "patch_size": 8},
        "size": (32, 32),
        "sizes": ((24, 40),),
    },
    "hybrid_root": {
        "kind": "hybrid",
        "arguments": HYBRID,
        "units": (),
        "patch": 2,
        "model": "Hybrid",
        "config": {**OUR_HYBRID, "units": (), "root_width": 32, "patch_size": 8},
        "size": (32, 32),
        "sizes": (),
    },
}
