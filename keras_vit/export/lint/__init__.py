"""Whether a phone's GPU, an NPU, a browser or a microcontroller would take a file."""

from keras_vit.export.lint.linting import lint
from keras_vit.export.lint.targets import TARGETS
from keras_vit.export.lint.vela import ACCELERATORS
from keras_vit.export.lint.verdict import Finding, Verdict

__all__ = ["ACCELERATORS", "TARGETS", "Finding", "Verdict", "lint"]
