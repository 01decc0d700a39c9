"""The step on batches of all sizes, with its settings."""

import contextlib

import keras
import numpy as np
from scene import (
    RANDOM,
    REPLICAS,
    WEIGHTS,
    X,
    Y,
    adamw,
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

from keras_vit.step import averaged, exact
from keras_vit.step.average import averages


@scenario
def uneven_last_batch():
    return both(dense, momentum, sample_weight=WEIGHTS, metrics=["accuracy"])


@scenario
def uneven_last_batch_compiled():
    return both(dense, momentum, options={"jit_compile": True}, weighted_metrics=["accuracy"])


@scenario
def one_example_in_the_last_batch():
    return both(dense, momentum, batch=5)


@scenario
def odd_first_batch():
    return both(dense, momentum, batch=3, x=X[:7], y=Y[:7])


@scenario
def fewer_examples_than_replicas():
    return both(dense, momentum, x=X[:1], y=Y[:1], metrics=["accuracy"])


@scenario
def class_weights():
    return both(dense, momentum, class_weight={0: 0.5, 1: 2.0, 2: 3.0}, epochs=2)


@scenario
def clip():
    return both(
        dense, adamw, {"clip_norm": 0.3}, plain_optimizer=lambda: adamw(global_clipnorm=0.3)
    )


@scenario
def clip_accumulate_compiled():
    return both(
        dense,
        adamw,
        {"clip_norm": 0.3, "accumulate": 3},
        {"jit_compile": True},
        plain_optimizer=lambda: adamw(global_clipnorm=0.3),
        sample_weight=WEIGHTS,
        metrics=["accuracy"],
    )


@scenario
def accumulate():
    return both(dense, momentum, {"accumulate": 2}, sample_weight=WEIGHTS, metrics=["accuracy"])


@scenario
def ema():
    """Keras ends with the averages in the place of the weights."""
    plain, _ = trained(built(dense), momentum_with_ema())
    raw, _ = trained(built(dense), momentum())
    with strategy():
        model, _ = trained(exact(built(dense), ema=0.7), momentum())
        held = [average.numpy() for average in averages(model.optimizer)]
        with averaged(model):
            inside = model.evaluate(X, Y, verbose=0)
        outside = model.evaluate(X, Y, verbose=0)
    return {
        "averages": difference(plain.get_weights(), held),
        "weights": difference(raw.get_weights(), model.get_weights()),
        "inside": difference(plain.evaluate(X, Y, verbose=0), inside),
        "outside": difference(raw.evaluate(X, Y, verbose=0), outside),
    }


def momentum_with_ema():
    return keras.optimizers.SGD(0.5, momentum=0.9, use_ema=True, ema_momentum=0.7)


@scenario
def not_finite():
    """A batch with an infinite example on each replica in turn, then a good one."""
    results = {}
    for bad in range(REPLICAS):
        x = np.concatenate([X[:4], X[4:8]])
        x[bad * (4 // REPLICAS)] = np.inf
        results[str(bad)] = both(
            dense,
            lambda: keras.optimizers.LossScaleOptimizer(
                momentum(), initial_scale=8.0, dynamic_growth_steps=2
            ),
            {"clip_norm": 100.0} if bad else {},
            x=x,
            y=Y[:8],
            epochs=1,
        )["weights"]
    with strategy():
        optimizer = keras.optimizers.LossScaleOptimizer(
            momentum(), initial_scale=8.0, dynamic_growth_steps=2
        )
        model, _ = trained(exact(built(dense)), optimizer, x=x, y=Y[:8], epochs=1)
        after_one = float(optimizer.dynamic_scale.numpy())
        model.fit(X[4:8], Y[4:8], batch_size=4, verbose=0)
    return {
        "weights": max(results.values()),
        "scale": after_one,
        "grown": float(optimizer.dynamic_scale.numpy()),
        "steps": int(optimizer.iterations.numpy()),
    }


@scenario
def single_batches():
    weights, logs, tested, guessed = [], [], [], []
    for scope, make in ((contextlib.nullcontext(), dense), (strategy(), lambda: exact(dense()))):
        with scope:
            model = built(make)
            model.compile(momentum(), crossentropy(), metrics=["accuracy"])
            batch = X[:3], Y[:3], WEIGHTS[:3]
            logs.append([model.train_on_batch(*batch) for _ in range(2)])
            tested.append(model.evaluate(X, Y, batch_size=4, verbose=0))
            guessed.append(model.predict(X, batch_size=4, verbose=0))
        weights.append(model.get_weights())
    return {
        "weights": difference(*weights),
        "logs": difference(*logs),
        "evaluate": difference(*tested),
        "predict": difference(*guessed),
    }


@scenario
def batch_logs():
    """What the progress bar shows of the loss is the mean up to now, not one replica's."""
    shown = []
    for make in (lambda: built(dense), lambda: exact(built(dense))):
        with strategy() if shown else contextlib.nullcontext():
            model, seen = make(), []
            model.compile(momentum(), crossentropy())
            watch = keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs, seen=seen: seen.append(logs["loss"])
            )
            model.fit(X, Y, batch_size=4, shuffle=False, verbose=0, callbacks=[watch])
        shown.append([float(value) for value in seen])
    return {"losses": difference(*shown)}


@scenario
def vision_transformer():
    from keras_vit.models import ViT, ViTConfig

    def make(**fields):
        return ViT(
            ViTConfig(
                image_size=(4, 6),
                patch_size=2,
                channels=3,
                width=6,
                depth=1,
                num_heads=2,
                mlp_dim=7,
                num_classes=3,
                **fields,
            )
        )

    images = RANDOM.normal(size=(11, 4, 6, 3))
    plain = lambda: (model := make()) and keras.Model(model.inputs, model.outputs)  # noqa: E731
    one, one_history = trained(built(plain), momentum(), images)
    results = {}
    for remat in (False, True):
        with strategy():
            model, history = trained(
                built(lambda remat=remat: make(remat=remat)),
                momentum(),
                images,
                jit_compile=remat,
            )
        results[f"remat_{remat}"] = max(
            difference(one.get_weights(), model.get_weights()), difference(one_history, history)
        )
    return results


@scenario
def keras_alone():
    """What plain Keras does under several replicas: this is what the step is for."""

    def alone(**options):
        one, _ = trained(built(dense), keras.optimizers.SGD(0.5, **options), batch=4)
        with strategy():
            model, _ = trained(built(dense), keras.optimizers.SGD(0.5, **options), batch=4)
        return difference(one.get_weights(), model.get_weights())

    return {"uneven": alone(), "clip": alone(global_clipnorm=0.3)}
