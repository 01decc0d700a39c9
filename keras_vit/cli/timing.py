"""How long a call takes."""

import statistics
import time


def median_seconds(call, repeats=30, warmup=3, limit=20.0):
    """Returns the median time of a call.

    Args:
        call: function without arguments, which returns when its work is done.
        repeats: timed calls.
        warmup: calls before those, not timed: the first ones compile and allocate.
        limit: seconds after which no further call is started; one is always timed.

    Returns:
        Seconds.

    Example:

    >>> median_seconds(lambda: None) < 1
    True
    """
    end = time.perf_counter() + limit
    for _ in range(warmup):
        call()
    times = []
    while len(times) < repeats and (not times or time.perf_counter() < end):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
