"""What a run will do, before it does it."""

import dataclasses

import keras
import numpy as np
from PIL import Image

from keras_vit.files import replacing
from keras_vit.models.flops import forward_flops, training_flops
from keras_vit.training.first_batch import first_batch
from keras_vit.training.memory import StepMemory, step_memory
from keras_vit.training.parameter_groups import parameter_groups
from keras_vit.training.plots import draw_curve

POINTS = 500  # of the schedule's picture


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run will do.

    Args:
        setting: the `Prepared` run.
        model: the model as it will be before the first step.
        groups: list of `ParameterGroup`.
        memory: `StepMemory` of the whole batch on one device.
        forward_flops: operations of the forward pass of one image.
        training_flops: operations of one image in training, if all weights are trained.
    """

    setting: object
    model: keras.Model
    groups: list
    memory: StepMemory
    forward_flops: int
    training_flops: int

    @property
    def parameters(self):
        """(all, trained): numbers in the weights."""
        count = sum(group.parameters for group in self.groups)
        return count, sum(group.parameters for group in self.groups if group.factor)

    @property
    def steps(self):
        """Steps of the whole run."""
        return self.setting.steps * self.setting.recipe.epochs


def plan(setting):
    """Makes the model of a run, and counts.

    Args:
        setting: a `Prepared`.

    Returns:
        A `Plan`.
    """
    keras.utils.set_random_seed(setting.recipe.seed)
    model = setting.compiled(setting.model())
    return Plan(
        setting,
        model,
        parameter_groups(model, setting.recipe),
        step_memory(model, setting.recipe.batch_size),
        forward_flops(model.config),
        training_flops(model.config),
    )


def draw_plan(found, folder):
    """Draws the learning rate over the run, and the first batch as the model will see it.

    Args:
        found: a `Plan`.
        folder: where `schedule.png` and `first_batch.png` are written.

    Returns:
        The two paths.
    """
    setting, rate = found.setting, found.setting.rate()
    steps = np.unique(np.linspace(0, found.steps - 1, POINTS).round().astype(int))
    schedule = draw_curve(
        folder / "schedule.png",
        steps / setting.steps,
        {"": [float(rate(int(step))) for step in steps]},
        ("epoch", "learning rate"),
    )
    picture = first_batch(setting.shown(found.model.preprocessing), found.model.preprocessing)
    with replacing(folder / "first_batch.png") as temporary:
        Image.fromarray(picture).save(temporary, "PNG")
    return schedule, folder / "first_batch.png"
