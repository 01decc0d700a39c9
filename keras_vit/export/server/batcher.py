"""Gathers requests into batches, with a bound on waiting and on the number that wait.

Own code, as in TF Serving itself: libraries for it (Ray Serve, LitServe, BentoML) bring a whole
server of their own protocol with them, and what is needed is this one class.
"""

import collections
import dataclasses
import threading
import time
from concurrent.futures import Future

import numpy as np

from keras_vit.export.server.errors import Refused


@dataclasses.dataclass
class Task:
    """One request in the queue.

    Args:
        kind: what can be computed together has equal kinds: signature, shapes, dtypes.
        inputs: dict of name to array, the batch axis first; its length is the same for all.
        rows: length of that axis; None for a signature without a batch axis.
        deadline: `time.monotonic()` at which nobody waits for the answer any more.
    """

    kind: tuple
    inputs: dict
    rows: int | None
    deadline: float
    arrived: float = dataclasses.field(default_factory=time.monotonic)
    future: Future = dataclasses.field(default_factory=Future)


class Batcher:
    """A bounded queue whose requests are computed together.

    A batch starts when a worker is free and there are `max_batch` examples of a kind, or the
    oldest one has waited for `delay`. Under load batches grow by themselves, since requests
    gather while the workers compute.

    Args:
        run: function of (kind, inputs) to a dict of name to array; called in the workers.
        max_batch: most examples of a batch.
        delay: seconds that an example waits for others.
        queue: most requests that wait.
        workers: number of threads that compute.
        observe: function of (rows, requests, seconds waited by the oldest, seconds of `run`).
    """

    def __init__(self, run, max_batch, delay, queue, workers=1, observe=lambda *_: None):
        self.run, self.max_batch, self.delay, self.queue = run, max_batch, delay, queue
        self.observe = observe
        self.waiting = 0
        self._lanes = collections.OrderedDict()  # kind -> deque of tasks
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"batch-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def enter(self):
        """Takes a place in the queue, before the work that comes before `submit`.

        Raises:
            Refused: if the queue is full, or closed.
        """
        with self._changed:
            if self._closed:
                raise Refused("UNAVAILABLE", "The server is shutting down.")
            if self.waiting >= self.queue:
                raise Refused(
                    "RESOURCE_EXHAUSTED",
                    f"The queue is full: {self.waiting} requests wait. Try again in a moment.",
                )
            self.waiting += 1

    def leave(self):
        """Gives back the place of a request that will not be submitted."""
        with self._changed:
            self.waiting -= 1
            self._changed.notify_all()

    def submit(self, task):
        """Puts a request that has entered into the queue.

        Returns:
            Its future: a dict of name to array, or the error. Cancel it if nobody waits any more.
        """
        with self._changed:
            self._lanes.setdefault(task.kind, collections.deque()).append(task)
            self._changed.notify_all()
        return task.future

    def close(self):
        """Finishes what has entered, then ends the workers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self):
        while tasks := self._next():
            self._compute(tasks)

    def _next(self):
        """The tasks of the next batch; None when the queue is closed and empty."""
        with self._changed:
            while True:
                if self._lanes:
                    lane = min(self._lanes.values(), key=lambda tasks: tasks[0].arrived)
                    left = lane[0].arrived + self.delay - time.monotonic()
                    if left <= 0 or self._closed or self._full(lane):
                        return self._taken(lane)
                    self._changed.wait(left)
                elif self._closed and not self.waiting:
                    return None
                else:
                    self._changed.wait()

    def _full(self, lane):
        return lane[0].rows is None or sum(task.rows for task in lane) >= self.max_batch

    def _taken(self, lane):
        tasks, rows = [lane.popleft()], 0
        if tasks[0].rows is not None:
            rows = tasks[0].rows
            while lane and rows + lane[0].rows <= self.max_batch:
                tasks.append(lane.popleft())
                rows += tasks[-1].rows
        if not lane:
            del self._lanes[tasks[0].kind]
        self.waiting -= len(tasks)
        return tasks

    def _compute(self, tasks):
        now = time.monotonic()
        wanted = []
        for task in tasks:
            if not task.future.set_running_or_notify_cancel():
                continue
            if task.deadline < now:
                late = Refused("DEADLINE_EXCEEDED", "The time of the request ran out in the queue.")
                task.future.set_exception(late)
                continue
            wanted.append(task)
        if wanted:
            self._answer(wanted, now - wanted[0].arrived)

    def _answer(self, tasks, waited):
        started = time.monotonic()
        try:
            outputs = self.run(tasks[0].kind, _joined(tasks))
        except Exception as error:
            if len(tasks) == 1:
                tasks[0].future.set_exception(error)
                return
            # One request's data broke the batch: each is computed alone, so that it fails alone.
            for task in tasks:
                self._answer([task], waited)
            return
        rows = sum(task.rows or 1 for task in tasks)
        self.observe(rows, len(tasks), waited, time.monotonic() - started)
        start = 0
        for task in tasks:
            task.future.set_result(_share(outputs, start, task.rows))
            start += task.rows or 0


def _joined(tasks):
    if len(tasks) == 1:
        return tasks[0].inputs
    return {name: np.concatenate([task.inputs[name] for task in tasks]) for name in tasks[0].inputs}


def _share(outputs, start, rows):
    if rows is None:
        return outputs
    return {name: array[start : start + rows] for name, array in outputs.items()}
