"""Bearer tokens, for both protocols."""

import hmac

from keras_vit.export.server.errors import Refused


class Access:
    """Lets in those who know a token.

    Args:
        tokens: accepted tokens; none lets everybody in.

    Example:

    >>> Access(["secret"]).check("Bearer secret")
    """

    def __init__(self, tokens):
        self._tokens = [token.encode("utf-8") for token in tokens]

    def check(self, header):
        """Checks an `Authorization` header.

        Args:
            header: its text, or None.

        Raises:
            Refused: unless it holds one of the tokens.
        """
        if not self._tokens:
            return
        scheme, _, given = (header or "").partition(" ")
        given = given.strip().encode("utf-8", "surrogateescape")
        # Every token is compared, in constant time: nothing is told by how long it takes.
        matches = [hmac.compare_digest(given, token) for token in self._tokens]
        if scheme.lower() != "bearer" or not any(matches):
            raise Refused("UNAUTHENTICATED", "A valid token is needed: Authorization: Bearer TOKEN")
