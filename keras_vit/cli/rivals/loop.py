"""Times one call of one package's model at the word of another process.

    python loop.py MODULE CALL SETTINGS

MODULE is a file beside this one whose `CALLS[CALL](settings)` gives the function to time; SETTINGS
is JSON: `width depth num_heads mlp_dim patch_size image_size num_classes batch_size dtype`, or
`model`, a name of ours, in place of the first five, and for clips `frames`. A first line says that
the function is there. Each line of standard input, a count, is then answered by a line of JSON:
`seconds`, of each of so many calls, and `growth`, the bytes by which the process grew since the
function was there, at its largest. Runs without keras_vit: the other packages' environments need
not have it.
"""

import contextlib
import importlib
import json
import sys
import time
from pathlib import Path

STATUS = Path("/proc/self/status")


def seconds(call, count):
    """Returns the seconds of each of `count` calls."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return found


def resident(field):
    """Returns the bytes of this process in memory, `VmRSS` now or `VmHWM` at most.

    None where the system does not tell (it is not Linux).
    """
    if not STATUS.exists():
        return None
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def main(module, call, settings):
    """Answers until standard input ends."""
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        function = importlib.import_module(module).CALLS[call](json.loads(settings))
        start = resident("VmRSS")
        print(json.dumps("ready"), file=answers, flush=True)
        for line in sys.stdin:
            taken = seconds(function, int(line))
            growth = None if start is None else resident("VmHWM") - start
            print(json.dumps({"seconds": taken, "growth": growth}), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
