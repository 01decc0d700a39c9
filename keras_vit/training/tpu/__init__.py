"""Checks of a training step by the real TPU compiler, on a machine without a TPU.

`topology` names the chips, `jax_step` and `tf_step` make the step, `compiler` compiles it,
`figures` reads what the compiler says of it, `lint` looks for what no TPU can run, `fit_batch`
finds the largest batch, and `check` does all of it, each compile in a `worker` process of its own.
"""
