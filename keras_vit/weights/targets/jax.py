"""The JAX codes: the original ViT's, and big_vision's."""

from keras_vit.models import DeiT
from keras_vit.weights.tables.vit_jax import is_original
from keras_vit.weights.targets.target import Target, class_rows, in_the_way


def target(model):
    """The target for a model."""
    config = model.config
    original = is_original(config)
    return Target(
        source="jax" if original else "big_vision",
        in_the_way=in_the_way(
            activation=config.activation != "gelu_tanh" and "the JAX codes use the tanh GELU",
            norm_epsilon=config.norm_epsilon != 1e-6 and "the JAX codes use 1e-6",
            preprocessing=set(config.preprocessing.mean + config.preprocessing.std) != {0.5}
            and "the JAX codes take images from -1 to 1, mean and std 0.5",
            layer_scale=config.layer_scale is not None and "the JAX codes have no LayerScale",
            registers=config.registers and "the JAX codes have no registers",
            mlp=config.mlp != "mlp" and "the JAX codes have the plain MLP only",
            model=isinstance(model, DeiT) and "the JAX codes have no distilled DeiT",
            pooling=_pooling_in_the_way(config),
        ),
        # big_vision computes sincos2d anew.
        positions=config.position == "learned",
        position_rows=class_rows(config),
    )


def _pooling_in_the_way(config):
    if config.pooling in ("gap", "map"):
        return config.class_token and "the JAX codes have a class token only to pool by it"
    return config.pooling != "token" and "the JAX codes pool by token, gap or map"
