"""What all models share: a graph made from one frozen config, saved and rebuilt from it."""

import dataclasses

import keras

from keras_vit.layers import Preprocessing
from keras_vit.layers.activations import activation as activation_named
from keras_vit.step import ExactFit


class ImageModel(ExactFit, keras.Model):
    """A functional graph made from a frozen dataclass config, trained by the exact step.

    A subclass sets `config_class` and gives `build_graph(config, dtype)`, which returns the
    graph's inputs, its outputs and a dict of named tensors for `features`.
    """

    config_class = None

    def __init__(self, config, name=None, dtype=None, **kwargs):
        policy = keras.dtype_policies.get(dtype or keras.config.dtype_policy())
        inputs, outputs, taps = self.build_graph(config, policy)
        super().__init__(inputs=inputs, outputs=outputs, name=name, **kwargs)
        self.config = config
        self.policy = policy
        # What the weights were last filled from: a `keras_vit.weights.Report`.
        self.weights_report = None
        features = keras.Model(inputs, taps, name="features")
        # Held by a function: as an attribute it would be tracked and saved a second time.
        self._features = lambda images, training=None: features(images, training=training)

    @property
    def preprocessing(self):
        """The `Preprocessing` that the model's images need."""
        return self.config.preprocessing

    def features(self, images, training=None):
        """Returns what the model sees in the images, before the head.

        Args:
            images: normalised float images `[b, h, w, c]`, or a symbolic Keras tensor.
            training: whether the dropouts are on.

        Returns:
            A dict: `tokens` `[b, n, width]`, the patch tokens after the final norm; `prefix`
            `[b, m, width]`, class token and registers; `pooled` `[b, width]`, what the head
            gets.
        """
        return self._features(images, training=training)

    def get_config(self):
        return {
            "config": dataclasses.asdict(self.config),
            "name": self.name,
            "dtype": keras.dtype_policies.serialize(self.policy),
            "trainable": self.trainable,
            # The graph is built anew from the config: what a fine-tuning froze is named here.
            "frozen": [layer.name for layer in self.layers if not layer.trainable],
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        policy = keras.dtype_policies.deserialize(config.pop("dtype"))
        frozen = config.pop("frozen", ())
        model = cls(cls.config_class(**config.pop("config")), dtype=policy, **config)
        for name in frozen:
            model.get_layer(name).trainable = False
        return model


class NamedVariants:
    """`from_variant` of a family whose published sizes are those of a dict, `variants`.

    A subclass sets `variants`: name -> fields of its config.
    """

    variants = None

    @classmethod
    def from_variant(cls, variant, dtype=None, **fields):
        """Builds a published size, for example `Hybrid.from_variant("r50_b16")`.

        Args:
            variant: a key of `variants`.
            dtype: as in the constructor.
            **fields: any field of the family's config.

        Raises:
            ValueError: if there is no such variant.
        """
        if variant not in cls.variants:
            names = ", ".join(cls.variants)
            raise ValueError(f"`variant` must be one of {names}. Received: {variant!r}.")
        return cls(cls.config_class(**{**cls.variants[variant], **fields}), dtype=dtype)


def input_dtype(policy):
    """Returns the dtype of a model's images: float32 under a mixed policy."""
    return policy.variable_dtype


def image_input(config, policy):
    """Returns the symbolic images `[b, h, w, c]` that a model's graph begins with."""
    shape = (*config.image_size, config.channels)
    return keras.Input(shape, dtype=input_dtype(policy), name="images")


def stage_taps(stages):
    """Returns the maps of a pyramid's stages by the names that `features` gives them."""
    return {f"stage_{index}": stage for index, stage in enumerate(stages)}


def head_dtype(policy):
    """Returns the dtype of a model's head: float32 under a mixed policy, for the loss's sake."""
    return keras.DTypePolicy(policy.variable_dtype)


def classifier(pooled, config, policy):
    """Returns the logits of a pooled vector, by way of the config's representation layer.

    Without classes, what the head would get.
    """
    x = pooled
    if config.representation_size:
        x = keras.layers.Dense(
            config.representation_size,
            activation="tanh",
            # As in the JAX code, whose kernels outside attention and MLP are Flax's default.
            kernel_initializer="lecun_normal",
            name="representation",
            dtype=policy,
        )(x)
    if config.num_classes:
        x = keras.layers.Dense(
            config.num_classes,
            # Zero, as in the JAX code: a new head starts undecided.
            kernel_initializer="zeros",
            bias_initializer=keras.initializers.Constant(config.head_bias),
            name="head",
            dtype=head_dtype(policy),
        )(x)
    return x


def check_count(name, value, least=1):
    """Checks a config's number of something.

    Raises:
        ValueError: if `value` is not an integer of at least `least`.
    """
    if not isinstance(value, int) or value < least:
        raise ValueError(
            f"`{name}` must be an integer of at least {least}. Received: {name}={value!r}."
        )


def check_rate(name, value):
    """Checks a config's share of what is dropped.

    Raises:
        ValueError: if `value` is not in [0, 1).
    """
    if not 0 <= value < 1:
        raise ValueError(f"`{name}` must be in [0, 1). Received: {name}={value!r}.")


def check_shared(config):
    """Checks the fields that the config of every family has.

    Raises:
        ValueError: for a number, a rate or an activation that cannot be.
    """
    check_count("channels", config.channels)
    check_count("num_classes", config.num_classes, least=0)
    for name in ("dropout", "attention_dropout", "drop_path"):
        check_rate(name, getattr(config, name))
    activation_named(config.activation)


def fitted_preprocessing(config):
    """Returns the config's preprocessing at the model's size.

    Raises:
        ValueError: if it does not fit the channels or the classes.
    """
    given = config.preprocessing
    if given is None:
        half = (0.5,) * config.channels
        given = Preprocessing(config.image_size, mean=half, std=half)
    elif isinstance(given, dict):
        given = Preprocessing(**given)
    if given.channels != config.channels:
        raise ValueError(
            "`preprocessing` must have a mean for each of the `channels`. "
            f"Received: channels={config.channels}, mean={given.mean}."
        )
    if given.class_names and len(given.class_names) != config.num_classes:
        raise ValueError(
            "`preprocessing.class_names` must name each of the `num_classes`. "
            f"Received: num_classes={config.num_classes}, {len(given.class_names)} names."
        )
    return dataclasses.replace(given, image_size=config.image_size)


def copy_by_path(source, target, of=lambda path: path):
    """Gives weights of a model the values of another's weights of the same path, where there are.

    Args:
        source, target: models.
        of: function from the path of a weight of `target` to that of its source, or None for a
            weight that stays as it is.
    """
    theirs = {weight.path: weight for weight in source.weights}
    for weight in target.weights:
        found = theirs.get(of(weight.path))
        if found is not None:
            weight.assign(found)
