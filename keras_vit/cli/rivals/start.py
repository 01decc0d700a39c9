"""Times how a process starts with one package: import, model, first training step.

    python start.py MODULE SETTINGS

MODULE and SETTINGS are those of `loop`, for a package on Keras. Prints one line of JSON, seconds:
`import` on top of Keras and TensorFlow, `build` of the model, and `first step` of its training with
what that compiles, each after the one before.
"""

import contextlib
import importlib
import json
import sys
import time


def main(module, settings):
    """Prints the seconds."""
    with contextlib.redirect_stdout(sys.stderr):
        import keras  # noqa: F401

        module = importlib.import_module(module)
        times = [time.perf_counter()]
        importlib.import_module(module.PACKAGE)
        times.append(time.perf_counter())
        step = module.CALLS["training step"](json.loads(settings))
        times.append(time.perf_counter())
        step()
        times.append(time.perf_counter())
    taken = [after - before for before, after in zip(times, times[1:], strict=False)]
    print(json.dumps(dict(zip(("import", "build", "first step"), taken, strict=True))))


if __name__ == "__main__":
    main(*sys.argv[1:])
