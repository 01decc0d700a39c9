"""The exact training step: any number of replicas gives what one device gives."""

from keras_vit.step.average import averaged
from keras_vit.step.exact import exact
from keras_vit.step.exact_fit import ExactFit
from keras_vit.step.kinds import PairwiseLoss, RatioLoss
from keras_vit.step.settings import StepSettings

__all__ = ["ExactFit", "PairwiseLoss", "RatioLoss", "StepSettings", "averaged", "exact"]
