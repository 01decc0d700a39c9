"""What a server's refusal means for the one who asked."""

# HTTP's status -> gRPC's code, for those that TF Serving gives.
CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    412: "FAILED_PRECONDITION",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_ADVICE = {
    "RESOURCE_EXHAUSTED": (OSError, "Try again in a moment, or send fewer pictures at a time."),
    "UNAUTHENTICATED": (PermissionError, "Set KERAS_VIT_TOKEN to a token of the server."),
    "PERMISSION_DENIED": (PermissionError, "Ask for access."),
    "NOT_FOUND": (ValueError, "Check the model's name and version in the address."),
    "UNAVAILABLE": (
        ConnectionError,
        "Is it running, and ready? `keras-vit serve DIR` starts one; check host and port.",
    ),
    "DEADLINE_EXCEEDED": (TimeoutError, "The server is slow or overloaded."),
}


def failure(address, code, message):
    """Returns the exception for a refusal.

    Args:
        address: the server's, as the user gave it.
        code: the name of a gRPC status.
        message: what the server says.

    Example:

    >>> failure("http://127.0.0.1:8501/v1/models/cats", "NOT_FOUND", "No such model.")
    ValueError("http://127.0.0.1:8501/v1/models/cats: No such model. Check the model's ...")
    """
    kind, advice = _ADVICE.get(code, (ValueError, ""))
    text = message if message.endswith(".") else f"{message}."
    return kind(f"{address}: {text} {advice}".strip())
