"""The blocks of a ViT, made from its config."""

from keras_vit.layers import drop_path_rates


def block_layers(config, policy, kind, each=None, **options):
    """Returns the blocks of a ViT, from first to last.

    Args:
        config: a `ViTConfig`.
        policy: the model's dtype policy.
        kind: their class, or a list of classes.
        each: what more each of them gets, a list of dicts, or None.
        **options: what more all of them get.
    """
    rates = drop_path_rates(config.drop_path, config.depth)
    kinds = kind if isinstance(kind, list) else [kind] * config.depth
    each = each or [{}] * config.depth
    return [
        made(
            config.num_heads,
            config.mlp_dim,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            drop_path=drop_path,
            layer_scale=config.layer_scale,
            activation=config.activation,
            norm_epsilon=config.norm_epsilon,
            remat=config.remat,
            name=f"block_{index}",
            dtype=policy,
            **options,
            **more,
        )
        for index, (made, drop_path, more) in enumerate(zip(kinds, rates, each, strict=True))
    ]


def blocks(x, config, policy, kind, **options):
    """Returns the tokens after the blocks, which are of the class `kind`."""
    for block in block_layers(config, policy, kind, **options):
        x = block(x)
    return x
