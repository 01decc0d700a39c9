"""The three kinds of loss, and what each share of a batch has to give for the whole.

*example*: one value for each example (or element), averaged. Keras's own losses are of this kind.
*ratio*: a numerator and a denominator, each summed over the batch before the division.
*pairwise*: every example meets every other one of the batch.

A loss says which it is by an attribute `kind`. Code for one device needs none of this; under
several replicas the kind decides how their shares become the loss of the whole batch.
"""

import keras
from keras import ops

KINDS = ("example", "ratio", "pairwise")
# Reductions by which a loss is a mean over the batch.
MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")


class RatioLoss(keras.losses.Loss):
    """A loss that is a quotient of two sums, such as the mean over the masked tokens of a batch.

    A subclass gives `terms`. The loss gets the model's whole output, whatever its structure.
    """

    kind = "ratio"

    def terms(self, y_true, y_pred, sample_weight=None):
        """Returns (numerator, denominator), two scalars, each summed over the batch."""
        raise NotImplementedError

    def __call__(self, y_true, y_pred, sample_weight=None):
        return ops.divide_no_nan(*self.terms(y_true, y_pred, sample_weight))


class PairwiseLoss(keras.losses.Loss):
    """A loss in which all examples of a batch meet, such as a contrastive one.

    A subclass gives `call(y_true, y_pred)`, a scalar for the whole batch. The loss gets the
    model's whole output, for instance a dict of image and text embeddings `[b, width]`;
    `y_true` may be None.
    """

    kind = "pairwise"

    def __call__(self, y_true, y_pred, sample_weight=None):
        if sample_weight is not None:
            raise ValueError(f"{type(self).__name__} takes no `sample_weight`.")
        return self.call(y_true, y_pred)


def is_kerass(thing):
    """Tells whether a function or class is one of Keras's own."""
    return thing.__module__.partition(".")[0] == "keras"


def kind_of(loss):
    """Returns the kind of a loss, or None when nothing says it.

    Args:
        loss: a Keras loss, its name, or any function of `(y_true, y_pred)`.

    Raises:
        ValueError: if its `kind` is not one of the three.
    """
    kind = getattr(loss, "kind", None)
    if kind is not None and kind not in KINDS:
        raise ValueError(f"A loss's `kind` must be one of {KINDS}. Received: {kind!r}.")
    if kind is not None or isinstance(loss, str):
        return kind or "example"
    if isinstance(loss, keras.losses.Loss) and is_kerass(type(loss)):
        # The wrapper is Keras's; the function in it may be anybody's.
        loss = getattr(loss, "fn", type(loss))
    return "example" if is_kerass(loss) else None


def losses_of(model):
    """Returns the losses that a model was compiled with, in a flat list."""
    return [loss for loss in keras.tree.flatten(model.loss) if loss is not None]


def loss_kind(model):
    """Returns the kind of a compiled model's loss.

    Several losses are of one kind when each is an *example* loss: their sum is one, too.

    Raises:
        ValueError: if a loss does not say its kind, or if other kinds are mixed.
    """
    losses = losses_of(model)
    kinds = {kind_of(loss) for loss in losses} or {"example"}
    if kinds != {"example"} and len(losses) > 1 or None in kinds:
        names = ", ".join(getattr(loss, "__name__", type(loss).__name__) for loss in losses)
        raise ValueError(
            "Under several replicas a loss must say how their shares of it become the loss of the "
            f"whole batch. Give it an attribute `kind`, one of {KINDS} (for instance "
            "`kind = 'example'` when it returns a value for each example); only losses of kind "
            f"'example' go together. Received: {names}."
        )
    return kinds.pop()


def reduction_of(model):
    """Returns the one reduction of a model's *example* losses.

    Raises:
        ValueError: if they do not have the same, or if it is no mean.
    """
    reductions = {getattr(loss, "reduction", MEANS[0]) for loss in losses_of(model)}
    reductions = {MEANS[0] if name == "mean" else name for name in reductions} or {MEANS[0]}
    if len(reductions) > 1 or not reductions <= set(MEANS):
        raise ValueError(
            "Under several replicas and with `accumulate`, the `reduction` of the losses must be "
            f"one of {MEANS}, the same for all. Received: {sorted(map(str, reductions))}."
        )
    return reductions.pop()


def examples_in(x):
    """Returns the number of examples of a batch of inputs, an integer tensor."""
    return ops.shape(next(leaf for leaf in keras.tree.flatten(x) if leaf is not None))[0]


def weight_of_share(model, x, y_pred, sample_weight):
    """Returns the denominator of the mean that Keras takes over a share of the batch.

    Up to a constant, which drops out: it is the number of examples where each has as many
    elements, the number of elements that count where there is a mask, or the sum of the weights.
    """
    masks = [getattr(leaf, "_keras_mask", None) for leaf in keras.tree.flatten(y_pred)]
    weighted = reduction_of(model) == "mean_with_sample_weight" and sample_weight is not None
    if len(masks) > 1 and (weighted or any(mask is not None for mask in masks)):
        raise ValueError(
            "Masks and `reduction='mean_with_sample_weight'` are exact under several replicas for "
            f"one output only. Received: {len(masks)} outputs."
        )
    weight = sample_weight if weighted else 1.0
    if masks[0] is not None:
        weight = ops.cast(masks[0], keras.config.floatx()) * weight
    if weighted or masks[0] is not None:
        return ops.cast(ops.sum(weight), keras.config.floatx())
    return ops.cast(examples_in(x), keras.config.floatx())
