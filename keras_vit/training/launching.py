"""Who the workers of a job are, from what the user or a scheduler has put into the environment."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys

# Where a worker listens if nothing else is said; the second worker of a host takes the next.
PORT = 12355
ADDRESSES, PLACE = "KERAS_VIT_WORKERS", "KERAS_VIT_WORKER"


def tf_config(environment):
    """Returns the cluster and this worker's place in it, as the variable TF_CONFIG holds them.

    The first of these that is set counts:

    - TF_CONFIG itself.
    - KERAS_VIT_WORKERS, the addresses of all workers, such as `"vit-[0-3].vit"` or
      `"a:5000,b:5000"`, with the place of this one among them, from 0: KERAS_VIT_WORKER, or
      JOB_COMPLETION_INDEX, which an Indexed Job of Kubernetes sets.
    - SLURM_STEP_NODELIST and what else `srun` sets, tasks distributed in blocks (the default).

    Args:
        environment: mapping of variables, such as `os.environ`.

    Returns:
        A dict, or None for a process that nobody told of others.

    Raises:
        ValueError: for variables that do not fit together.

    Example:

    >>> tf_config({"KERAS_VIT_WORKERS": "a,b:5000", "KERAS_VIT_WORKER": "1"})["cluster"]
    {'worker': ['a:12355', 'b:5000']}
    """
    if "TF_CONFIG" in environment:
        return json.loads(environment["TF_CONFIG"])
    if ADDRESSES in environment:
        place = environment.get(PLACE, environment.get("JOB_COMPLETION_INDEX"))
        if place is None:
            raise ValueError(
                f"With {ADDRESSES}, {PLACE} must be the place of this worker among them, from 0. "
                f"Received: {environment[ADDRESSES]!r} alone."
            )
        return cluster(with_ports(expanded(environment[ADDRESSES])), place)
    if "SLURM_STEP_NODELIST" in environment:
        hosts = expanded(environment["SLURM_STEP_NODELIST"])
        counts = tasks_of_nodes(environment["SLURM_STEP_TASKS_PER_NODE"])
        tasks = [host for host, count in zip(hosts, counts, strict=True) for _ in range(count)]
        port = int(environment.get("KERAS_VIT_PORT", PORT))
        return cluster(with_ports(tasks, port), environment["SLURM_PROCID"])
    return None


def number_of(config):
    """Returns how many workers there are in what `tf_config` returned."""
    jobs = (config or {}).get("cluster", {})
    return sum(len(jobs.get(job, ())) for job in ("chief", "worker"))


def cluster(addresses, place):
    """Returns the TF_CONFIG, a dict, of the worker at `place` among `addresses`."""
    if not 0 <= int(place) < len(addresses):
        raise ValueError(
            f"The place of a worker must be from 0 to {len(addresses) - 1}, as there are "
            f"{len(addresses)} workers. Received: {place}."
        )
    task = {"type": "worker", "index": int(place)}
    return {"cluster": {"worker": list(addresses)}, "task": task}


def with_ports(hosts, port=PORT):
    """Gives a port to each host that has none: `port`, and the next ones where it comes again."""
    known = {}
    addresses = []
    for host in hosts:
        if not re.search(r":\d+$", host):
            known[host] = known.get(host, port - 1) + 1
            host = f"{host}:{known[host]}"
        addresses.append(host)
    return addresses


def expanded(text):
    """Returns the hosts of a list in Slurm's form.

    Example:

    >>> expanded("a,node[08-10,3].x")
    ['a', 'node08.x', 'node09.x', 'node10.x', 'node3.x']
    """
    hosts = []
    for item in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        head, bracket, rest = item.partition("[")
        numbers, _, tail = rest.partition("]")
        if not bracket:
            hosts.append(item)
            continue
        for part in numbers.split(","):
            first, _, last = part.partition("-")
            for number in range(int(first), int(last or first) + 1):
                hosts += expanded(f"{head}{number:0{len(first)}d}{tail}")
    return hosts


def tasks_of_nodes(text):
    """Returns the numbers of tasks that Slurm states for its nodes.

    Example:

    >>> tasks_of_nodes("2(x3),1")
    [2, 2, 2, 1]
    """
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", text)
    return [int(count) for count, times in found for _ in range(int(times or 1))]


def commands(hosts, command):
    """Returns what each host has to run, as lines for a shell.

    Args:
        hosts: addresses, as in KERAS_VIT_WORKERS.
        command: list of words.
    """
    shared = f"{ADDRESSES}={shlex.quote(hosts)}"
    return [
        f"{host}: {shared} {PLACE}={place} {shlex.join(command)}"
        for place, host in enumerate(expanded(hosts))
    ]


def run_here(number, command):
    """Runs that many workers as processes of this machine, and waits for them.

    SIGTERM is passed on to them. A worker that fails makes the others fail.

    Args:
        number: how many.
        command: list of words.

    Returns:
        The exit code: 0 if all of them have ended well, else one that another has ended with.
    """
    taken = [socket.create_server(("localhost", 0)) for _ in range(number)]
    addresses = ",".join(f"localhost:{server.getsockname()[1]}" for server in taken)
    for server in taken:
        server.close()
    # The commands of this Python's own environment come first.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    shared = {**os.environ, "PATH": path, ADDRESSES: addresses}
    processes = [
        subprocess.Popen(command, env={**shared, PLACE: str(place)}) for place in range(number)
    ]

    def pass_on(signum, frame):
        for process in processes:
            process.send_signal(signum)

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        codes = [process.wait() for process in processes]
    finally:
        signal.signal(signal.SIGTERM, before)
    return next((code for code in codes if code), 0)
