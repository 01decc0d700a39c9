"""The authors' DynamicViT."""

import dataclasses

from keras_vit.weights.targets.target import Target, in_the_way


@dataclasses.dataclass(frozen=True)
class DynamicTarget(Target):
    """A `Target` whose note tells the stages, too, which no array does."""

    def note(self, model):
        noted = super().note(model)
        own = {name: getattr(model.config, name) for name in ("stage_blocks", "keep_ratios")}
        return {**noted, "fields": {**noted["fields"], **own}}


def target(model):
    """The target for a model."""
    config = model.config
    return DynamicTarget(
        source="dynamicvit",
        in_the_way=in_the_way(
            activation=config.activation != "gelu" and "the authors' code has the exact GELU",
            norm_epsilon=config.norm_epsilon != 1e-6 and "the authors' code has 1e-6",
            class_token=not config.class_token and "the authors' code always has one",
            registers=config.registers and "the authors' code has none",
            pooling=config.pooling != "token" and "the authors' code pools by the class token",
            mlp=config.mlp != "mlp" and "the authors' code has the plain MLP only",
            layer_scale=config.layer_scale is not None and "the authors' code has none",
            representation_size=config.representation_size and "the authors' code has none",
        ),
        positions=True,
        position_rows=1,
    )
