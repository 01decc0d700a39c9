"""The hooks of Keras's TensorFlow trainer that lead to the exact step."""

import keras

from keras_vit.one_pass import on_tensorflow_cpu
from keras_vit.step.guards import check, check_fit, check_single_batch
from keras_vit.step.replica import prepare, replica_evaluation, replica_step, replicas_of
from keras_vit.step.settings import StepSettings


class TensorFlowFit:
    """`fit` on TensorFlow, under no strategy, OneDeviceStrategy or MirroredStrategy."""

    # The programs of the prepared step, and whether XLA compiles them.
    step_programs = None
    step_jit = False

    def check_settings(self, settings):
        """All settings can be had on TensorFlow."""

    def compile(self, *arguments, jit_compile="auto", **options):
        if jit_compile == "auto":
            jit_compile = not on_tensorflow_cpu() and not options.get("run_eagerly")
        super().compile(*arguments, jit_compile=jit_compile, **options)
        # Keras compiles around `strategy.run`, which fails: with several replicas XLA is inside.
        several = replicas_of(self) > 1
        self.step_jit = several and self.jit_compile
        self.jit_compile = not several and self.jit_compile
        if self.optimizer is not None:
            check(self)

    def make_train_function(self, force=False):
        if self.train_function is None or force:
            prepare(self, self.step_jit)
        super().make_train_function(force)

    def train_on_batch(self, *arguments, **options):
        check_single_batch(self)
        return super().train_on_batch(*arguments, **options)

    def train_step(self, data):
        return replica_step(self, data)

    def test_step(self, data):
        return super().test_step(data) if replicas_of(self) == 1 else replica_evaluation(self, data)

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        """Builds the model from the first replica's share of the first batch.

        Replaces the hook of `keras.src.backend.tensorflow.trainer`, which takes the mean over the
        replicas' shares for that, and fails when they are not of one length: for an odd first
        batch, or one smaller than the number of replicas. There is no public way round: `fit`
        calls it before any callback.
        """
        check_fit(self)
        if self._distribute_strategy is None and self.step_settings == StepSettings():
            return  # built by the first step, as in Keras
        if iterator is not None:
            for _, _, batches in iterator:
                data_batch = next(batches)
                break
        strategy = self.distribute_strategy
        share = keras.tree.map_structure(
            lambda value: strategy.experimental_local_results(value)[0], data_batch
        )
        with strategy.scope():
            self._symbolic_build(data_batch=share)
