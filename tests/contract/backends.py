"""What the contract asks of the backend itself: gradients, compilation, an unknown batch size."""

import keras

from tests.contract import BACKEND

# JAX computes in float64 only under a switch of its own, which changes everything else as well.
DTYPES = {
    "tensorflow": ("mixed_bfloat16", "mixed_float16", "float64"),
    "jax": ("mixed_bfloat16", "mixed_float16"),
}[BACKEND]
# Under JAX one block deep: each operation is compiled before it runs.
DEPTH = {"tensorflow": 2, "jax": 1}[BACKEND]
# JAX traces every shape anew, so that a second one would show nothing more.
BATCHES = {"tensorflow": (1, 2), "jax": (1,)}[BACKEND]


def gradients(model, inputs, loss):
    """The gradient of `loss(outputs)` with respect to each trainable weight, by path."""
    compute = {"tensorflow": _tape_gradients, "jax": _jax_gradients}[BACKEND]
    values = compute(model, inputs, loss)
    return {w.path: value for w, value in zip(model.trainable_weights, values, strict=True)}


def compiled(model):
    """The model as a function that XLA compiles."""
    if BACKEND == "jax":
        import jax

        parameters = [weight.value for weight in model.trainable_variables]
        others = [variable.value for variable in model.non_trainable_variables]
        return jax.jit(lambda inputs: model.stateless_call(parameters, others, inputs)[0])
    import tensorflow as tf

    return tf.function(lambda inputs: model(inputs, training=False), jit_compile=True)


def quick(model):
    """The model as the function that takes the least time to call once."""
    # Eagerly, JAX compiles every operation, which takes longer than the whole at once.
    return compiled(model) if BACKEND == "jax" else model


def with_unknown_batch(model):
    """The model as a traced function that takes any batch size."""
    if BACKEND == "jax":
        return compiled(model)
    import tensorflow as tf

    specs = keras.tree.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), model.input)
    return tf.function(lambda inputs: model(inputs, training=False), [specs])


def _tape_gradients(model, inputs, loss):
    import tensorflow as tf

    weights = [weight.value for weight in model.trainable_weights]
    with tf.GradientTape() as tape:
        value = loss(model(inputs, training=False))
    # Where nothing leads to a weight, TensorFlow gives None; of a table, the rows that were read.
    gradients = tape.gradient(value, weights)
    return [0.0 if g is None else tf.convert_to_tensor(g).numpy() for g in gradients]


def _jax_gradients(model, inputs, loss):
    import jax

    others = [variable.value for variable in model.non_trainable_variables]

    def value(parameters):
        return loss(model.stateless_call(parameters, others, inputs, training=False)[0])

    parameters = [weight.value for weight in model.trainable_variables]
    return [keras.ops.convert_to_numpy(g) for g in jax.jit(jax.grad(value))(parameters)]
