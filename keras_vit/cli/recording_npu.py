"""The recorded compiles of integer files by Arm's compiler for Ethos-U. Compiled, not run."""

from collections import Counter
from importlib.metadata import version

import numpy as np

from keras_vit.cli.once import once

# The smallest of each family that is exported, at its own image size. Their weights are random:
# what is compiled depends on the shapes alone.
MODELS = ("vit_ti16", "deit_ti16", "r_ti16", "swin_t", "coatnet_0")
TARGETS = ("ethos-u55", "ethos-u65", "ethos-u85")
# Images of noise: the ranges do not matter here.
IMAGES = 4


def npu(work, models=MODELS, **fields):
    """Share of the operators on the NPU, and the compiler's estimates, by model and target.

    Args:
        work: folder that keeps the files and each compile; a stopped run goes on from there.
        models: registered names.
        **fields: of `create_model`, such as a smaller `image_size`.
    """
    work.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in models:
        path = _exported(name, work, fields)
        found[name] = {
            target: once(work / f"{name}_{target}.json", lambda t=target, p=path: row(p, t))
            for target in TARGETS
        }
    return {
        "command": "make record ROW=npu",
        "ran": False,  # compiled, not run
        "profile": "npu",
        "models": found,
        "versions": {"ethos-u-vela": version("ethos-u-vela")},
    }


def row(path, target):
    """What is recorded of one compile."""
    from keras_vit.export.lint import lint

    verdict = lint(path, target)
    return {
        "operators": verdict.operators,
        "share": round(verdict.share, 4),
        "blockers": dict(Counter(one.operator for one in verdict.blockers)),
        "first_blocker": str(verdict.blockers[0]) if verdict.blockers else None,
        **verdict.figures,
    }


def _exported(name, work, fields):
    """The integer file of a model, written once."""
    from keras_vit.export import export
    from keras_vit.factory import create_model

    path = work / f"{name}.tflite"
    if not path.exists():
        model = create_model(name, **fields)
        preprocessing = model.preprocessing
        shape = (IMAGES, *preprocessing.image_size, preprocessing.channels)
        export(model, "npu", path, np.random.default_rng(0).integers(0, 256, shape))
    return path
