"""The kinds of loss, and what goes into a loss beside."""

import keras
import numpy as np
from losses import Contrastive, MaskedMean
from scene import (
    RANDOM,
    WEIGHTS,
    X,
    Y,
    both,
    built,
    crossentropy,
    dense,
    difference,
    momentum,
    scenario,
    strategy,
    trained,
)

from keras_vit.step import exact


@scenario
def additional_losses():
    def make():
        inputs = keras.Input((5,))
        hidden = keras.layers.Dense(7, "tanh", kernel_regularizer=keras.regularizers.L2(0.1))(
            inputs
        )
        hidden = keras.layers.ActivityRegularization(l2=0.2)(hidden)
        return keras.Model(inputs, keras.layers.Dense(3)(hidden))

    return both(make, momentum, x=X[:8], y=Y[:8])


@scenario
def several_outputs():
    def make():
        inputs = keras.Input((5,))
        outputs = {
            "classes": keras.layers.Dense(3, name="classes")(inputs),
            "size": keras.layers.Dense(1, name="size")(inputs),
        }
        return keras.Model(inputs, outputs)

    return both(
        make,
        momentum,
        x=X[:8],
        y={"classes": Y[:8], "size": X[:8, :1]},
        loss={"classes": crossentropy(), "size": "mse"},
        loss_weights={"classes": 1.0, "size": 0.3},
    )


TOKENS = np.array([[1, 2, 0, 0], [3, 1, 2, 4], [2, 0, 0, 0], [4, 4, 4, 0], [1, 3, 0, 0]])


@scenario
def masks_and_embeddings():
    """Rows that repeat in a batch: Keras's Adam takes the sum of their squares, ours does not."""

    def make():
        inputs = keras.Input((4,), dtype="int32")
        return keras.Model(
            inputs, keras.layers.Dense(2)(keras.layers.Embedding(5, 3, mask_zero=True)(inputs))
        )

    targets = RANDOM.normal(size=(5, 4, 2))
    arguments = {"x": TOKENS, "y": targets, "loss": "mse", "batch": 3}
    sgd = both(make, momentum, **arguments)
    one, _ = trained(exact(built(make)), adam(), **arguments)
    with strategy():
        model, _ = trained(exact(built(make)), adam(), **arguments)
    adams = difference(one.get_weights(), model.get_weights())
    plain, _ = trained(built(make), adam(), **arguments)
    return {
        **sgd,
        "adam": adams,
        "keras": difference(plain.get_weights(), one.get_weights()),
    }


def adam():
    return keras.optimizers.Adam(0.05)


@scenario
def weighted_mean():
    return both(
        dense,
        momentum,
        loss=keras.losses.CategoricalCrossentropy(
            from_logits=True, reduction="mean_with_sample_weight"
        ),
        sample_weight=WEIGHTS,
    )


@scenario
def ratio():
    return both(dense, momentum, {"accumulate": 2}, {"jit_compile": True}, loss=MaskedMean())


@scenario
def ratio_in_one_piece():
    return both(dense, momentum, loss=MaskedMean())


def towers():
    """Two towers; what they return is not batch-wise one tensor."""
    left, right = keras.Input((5,), name="left"), keras.Input((3,), name="right")
    regular = keras.regularizers.L2(0.01)
    return keras.Model(
        {"left": left, "right": right},
        {
            "left": keras.layers.Dense(4, kernel_regularizer=regular)(left),
            "right": keras.layers.Dense(4)(right),
        },
    )


PAIRS = {"x": {"left": X, "right": Y}, "y": None, "loss": Contrastive()}


def against_exact(make, settings, options, **arguments):
    """As `both`, where plain Keras would give the loss each output for itself."""
    clipped = {"clip_norm": settings.get("clip_norm")}
    one, one_history = trained(exact(built(make), **clipped), momentum(), **arguments)
    with strategy():
        model, history = trained(exact(built(make), **settings), momentum(), **arguments, **options)
        losses = model.evaluate(arguments["x"], batch_size=4, verbose=0)
    return {
        "weights": difference(one.get_weights(), model.get_weights()),
        "history": difference(one_history, history),
        "evaluate": abs(losses - one.evaluate(arguments["x"], batch_size=4, verbose=0)),
    }


@scenario
def pairwise():
    return against_exact(towers, {"clip_norm": 0.2}, {}, **PAIRS)


@scenario
def pairwise_in_pieces_compiled():
    return against_exact(towers, {"accumulate": 3}, {"jit_compile": True}, **PAIRS)
