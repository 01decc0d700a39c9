"""Starts the workers of `job.py` on this machine."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def start(folder, number=1, **options):
    """Starts that many workers and returns their processes."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = [socket.create_server(("localhost", 0)) for _ in range(number)]
    addresses = [f"localhost:{server.getsockname()[1]}" for server in taken]
    for server in taken:
        server.close()
    options = {"kind": "workers" if number > 1 else "one"} | options
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "CUDA_VISIBLE_DEVICES": ""}
    processes = []
    for index in range(number):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        more = {"TF_CONFIG": json.dumps(task)} if number > 1 else {}
        processes.append(
            subprocess.Popen(
                [sys.executable, HERE / "job.py", folder, json.dumps(options)],
                env=environment | more,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return processes


def ends(processes):
    """Waits for the processes; returns (exit code, result or None, last lines of errors) of each.

    They are all stopped if one of them hangs.
    """
    found = []
    try:
        for process in processes:
            output, errors = process.communicate(timeout=240)
            result = json.loads(output) if process.returncode == 0 else None
            found.append((process.returncode, result, errors[-3000:]))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return found


def results(folder, number=1, **options):
    """Runs a job that has to succeed and returns the results of its workers."""
    found = ends(start(folder, number, **options))
    assert [code for code, _, _ in found] == [0] * number, found
    return [result for _, result, _ in found]
