"""Times one package's model at the word of another process.

    python loop.py MODULE SETTINGS

MODULE is a file beside this one whose `calls(settings)` gives name -> function; SETTINGS is JSON:
`width depth num_heads mlp_dim patch_size image_size num_classes batch_size dtype`. Each line of
standard input, "NAME COUNT", is answered by a JSON list of the seconds of COUNT calls. Runs without
keras_vit: the other packages' environments need not have it.
"""

import contextlib
import importlib
import json
import sys
import time


def seconds(call, count):
    """Returns the seconds of each of `count` calls."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return found


def main(module, settings):
    """Answers until standard input ends."""
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        calls = importlib.import_module(module).calls(json.loads(settings))
        print(json.dumps(list(calls)), file=answers, flush=True)
        for line in sys.stdin:
            name, _, count = line.strip().rpartition(" ")
            print(json.dumps(seconds(calls[name], int(count))), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
