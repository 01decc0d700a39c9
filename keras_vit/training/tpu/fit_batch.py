"""The largest batch whose step fits in a chip's memory, with few compiles.

The memory of a step is a constant (weights, optimizer, program) and a share for each image, so that
two compiles tell where it ends. Near the end the compiler trades arithmetic for memory, and the
last word has a batch that compiled beside one that did not.
"""

import math


def line(first, second):
    """Returns (slope, value at 0) of the straight line through two points (x, y).

    Example:

    >>> line((8, 30), (16, 50))
    (2.5, 10.0)
    """
    (x1, y1), (x2, y2) = first, second
    slope = (y2 - y1) / (x2 - x1)
    return slope, y1 - slope * x1


def predicted_batch(points, capacity, step):
    """Returns the largest multiple of `step` that the line leaves room for, at least `step`.

    Args:
        points: two (batch, bytes).
        capacity: bytes that a chip has.
        step: what a batch must be a multiple of.
    """
    slope, constant = line(*points)
    if slope <= 0:
        raise ValueError(f"Memory must grow with the batch. Received: {points}.")
    return max(math.floor((capacity - constant) / slope / step), 1) * step


def largest_batch(attempt, capacity, start, step=8):
    """Finds a batch that compiles and a larger one that does not.

    Args:
        attempt: function from a batch to (whether it fits, bytes it needs).
        capacity: bytes that a chip has.
        start: two batches that give the line.
        step: what a batch must be a multiple of.

    Returns:
        (largest batch that compiled, smallest that did not). They are one `step` apart where the
        memory is straight to the end, and an eighth of the first at most where it is not. The
        first is 0 where not even `step` fits.
    """
    tried = {}

    def fits(batch):
        if batch not in tried:
            tried[batch] = attempt(batch)
        return tried[batch][0]

    for batch in start:
        fits(batch)
    guess = predicted_batch([(b, tried[b][1]) for b in start], capacity, step)
    direction = 1 if fits(guess) else -1
    distance = step
    while True:
        other = max(guess + direction * distance, 0)
        if other == 0 or fits(other) != (direction == 1):
            break
        guess, distance = other, 2 * distance
    fit, too_large = (guess, other) if direction == 1 else (other, guess)
    while too_large - fit > max(step, fit // 8):
        middle = (fit + too_large) // 2 // step * step
        fit, too_large = (middle, too_large) if fits(middle) else (fit, middle)
    return fit, too_large
