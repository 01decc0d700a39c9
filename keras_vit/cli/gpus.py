"""The GPU of this machine, and what its maker says that it can do."""

# Dense bfloat16 (T4 and V100: float16) operations a second, without sparsity, from the makers'
# data sheets. The first name that is part of the device's is taken.
PEAKS = {
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "A10G": 70e12,
    "L40S": 362e12,
    "L4": 121e12,
    "T4": 65e12,
    "V100": 125e12,
    "RTX 4090": 165e12,
    "RTX 3090": 71e12,
}


def gpu_name():
    """Returns the name of TensorFlow's first GPU, or None where there is none."""
    import tensorflow as tf

    for device in tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_device_details(device).get("device_name", "a GPU")
    return None


def peak(name):
    """Returns a GPU's operations a second, or None if it is not known.

    Example:

    >>> peak("NVIDIA A100-SXM4-80GB") / 1e12
    312.0
    """
    return next((rate for part, rate in PEAKS.items() if part in name), None)


def utilisation(flops, seconds, name):
    """Returns the model FLOPs utilisation as text, empty where the peak is not known.

    Args:
        flops: operations of one call, by the model's own count.
        seconds: what it took.
        name: of the GPU, or None.

    Example:

    >>> utilisation(312e12, 4.0, "NVIDIA A100-SXM4-80GB")
    '25.0 %'
    """
    rate = peak(name) if name else None
    return f"{100 * flops / seconds / rate:.1f} %" if rate else ""
