"""How TF Serving joins requests to batches: the file for its `--batching_parameters_file`."""

BATCHING = "batching_parameters.txt"
# A lone request waits for company so long; the smallest ViT takes longer for one image.
WAIT_MICROSECONDS = 2_000
# Batches that may wait in the queue, before a request is refused rather than kept.
QUEUED = 16


def batching_parameters(batch_sizes):
    """Returns the parameters as TF Serving's text.

    The numbers of threads are left to TF Serving: it takes those of the machine that it is on.

    Args:
        batch_sizes: the sizes that batches are filled up to, rising.

    Example:

    >>> print(batching_parameters((1, 8)).splitlines()[0])
    max_batch_size { value: 8 }
    """
    sizes = "".join(f"allowed_batch_sizes: {size}\n" for size in batch_sizes)
    return (
        f"max_batch_size {{ value: {batch_sizes[-1]} }}\n"
        f"batch_timeout_micros {{ value: {WAIT_MICROSECONDS} }}\n"
        f"max_enqueued_batches {{ value: {QUEUED} }}\n"
        f"{sizes}"
    )
