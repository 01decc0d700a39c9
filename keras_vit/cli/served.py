"""`keras-vit serve` in a process of its own, on free ports of this machine."""

import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from keras_vit.layers.extras import require

# The command of this very environment, whether or not it is on the PATH.
COMMAND = "import sys; from keras_vit.cli.main import main; sys.argv[0] = 'keras-vit'; main()"


class Served:
    """A server that is ready when the block begins, and ends with it.

    Args:
        folder: the folder to serve.
        options: further words of the command line.
        env: the environment; this process's by default.

    Attributes:
        process: the `subprocess.Popen`.
        events: the lines of the server's log so far, as dicts, but for those of requests.
        grpc, rest: `"127.0.0.1:port"`.
        started: `time.monotonic()` when the process was.
        ready_seconds: from then to ready.

    Raises:
        RuntimeError: if the server ends before it is ready.
    """

    def __init__(self, folder, *options, env=None):
        command = ["serve", str(folder), "--port", "0", "--rest-port", "0", *map(str, options)]
        self.events, self._changed = [], threading.Condition()
        self._other, self._ended = [], False
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            listening = self.wait("listening")
            self.wait("ready")
        except BaseException:
            self.kill()
            raise
        self.ready_seconds = time.monotonic() - self.started
        self.grpc = f"127.0.0.1:{listening['grpc_port']}"
        self.rest = f"127.0.0.1:{listening['rest_port']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def wait(self, event, seconds=120, **fields):
        """Returns the first line of the log that tells of an event.

        Args:
            event: its name.
            seconds: how long to wait for it.
            **fields: what else the line says.
        """
        wanted = {"event": event, **fields}
        with self._changed:
            found = self._changed.wait_for(lambda: self._ended or self._find(wanted), seconds)
            if found and (line := self._find(wanted)):
                return line
            raise RuntimeError(f"No {wanted} from the server: {''.join(self._other[-50:])}")

    def metric(self, name, **labels):
        """Returns the sum of a metric's samples that have these labels."""
        parser = require("prometheus_client.parser", extra="serve")
        with urllib.request.urlopen(f"http://{self.rest}/metrics", timeout=60) as answer:
            families = list(parser.text_string_to_metric_families(answer.read().decode()))
        return sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def stop(self):
        """Asks the server to end, and waits until it has; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def kill(self):
        """Kills the server."""
        self.process.kill()
        return self._gone()

    def _gone(self):
        status = self.process.wait(120)
        self._reader.join()
        self.process.stdout.close()
        return status

    def _find(self, wanted):
        return next((one for one in self.events if wanted.items() <= one.items()), None)

    def _read(self):
        for line in self.process.stdout:
            with self._changed:
                try:
                    event = json.loads(line)
                except ValueError:  # TensorFlow's own lines
                    self._other.append(line)
                    continue
                # Lines of requests would fill the memory of a long load.
                if event.get("event") != "request":
                    self.events.append(event)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()
