"""Why a request is refused: one error for both protocols."""

import re

# gRPC's code -> the HTTP status that TF Serving answers with.
HTTP_STATUS = {
    "INVALID_ARGUMENT": 400,
    "UNAUTHENTICATED": 401,
    "NOT_FOUND": 404,
    "FAILED_PRECONDITION": 412,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
# Most characters of a message.
LONGEST = 1000


class Refused(Exception):
    """A request that gets an error for an answer.

    Args:
        code: the name of a gRPC status, one of `HTTP_STATUS`.
        message: one sentence for the client.
        http_status: the number for HTTP; by default that of the code.

    Example:

    >>> Refused("NOT_FOUND", "No such model.").http_status
    404
    """

    def __init__(self, code, message, http_status=None):
        # It may quote what the client sent, which may be of any length.
        message = message if len(message) <= LONGEST else f"{message[:LONGEST]} ..."
        super().__init__(message)
        self.code, self.message = code, message
        self.http_status = http_status or HTTP_STATUS[code]


def first_line(error):
    """Returns what an exception says, in one line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def graph_reason(error):
    """Returns what a TensorFlow error says, without its names of nodes.

    Args:
        error: `tf.errors.OpError`.
    """
    text = (error.message or "").split("<stack traces unavailable>\n")[-1]
    asserted = re.search(r"assertion failed: \[(.*?)\s*\]", text)
    text = asserted[1] if asserted else re.sub(r"\{\{.*?\}\}|\[\[.*", "", text)
    return text.strip().partition("\n")[0].strip() or type(error).__name__
