"""A machine that is taken away gives notice by SIGTERM: the run saves its state and ends."""

import contextlib
import signal
import threading

EXIT_CODE = 42


class Preempted(SystemExit):
    """Ends the process with code 42: start the same command again to go on."""

    def __init__(self):
        super().__init__(EXIT_CODE)


class Notice:
    """Whether notice was given."""

    given = False

    def give(self, *_):
        self.given = True


@contextlib.contextmanager
def notice(number=signal.SIGTERM):
    """Yields a `Notice` that a signal gives; after the block the signal does what it did before.

    Only a process's main thread can heed signals: in another one the notice is never given.

    Args:
        number: the signal.
    """
    result = Notice()
    if threading.current_thread() is not threading.main_thread():
        yield result
        return
    before = signal.signal(number, result.give)
    try:
        yield result
    finally:
        signal.signal(number, before)
