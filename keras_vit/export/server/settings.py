"""What a server is told when it starts."""

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Args:
        folder: a model, `NAME/<version>/`, or a folder of models; see `folders.found`.
        host: address to listen on; the default is this machine only.
        port: port of gRPC; 0 takes a free one.
        rest_port: port of REST, the page and the metrics; 0 takes a free one.
        max_batch: most examples that are computed together, and that one request may hold.
        batch_timeout_ms: how long an example waits for others, in milliseconds.
        queue: most requests that wait for one version of a model; more are refused.
        timeout_s: most seconds that a request may take.
        max_body_mb: most megabytes of a request.
        max_pixels: most pixels of a picture, told from its header before it is decoded.
        versions: how many versions of a model are served, the newest ones.
        poll_s: seconds between two looks at the folder.
        tls_cert: file of the certificate chain in PEM form, or None for no TLS.
        tls_key: file of its private key.
        tokens: accepted bearer tokens; none asks for none.

    Raises:
        ValueError: for a number that is out of range, or half of a TLS pair.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8500
    rest_port: int = 8501
    max_batch: int = 16
    batch_timeout_ms: float = 2.0
    queue: int = 128
    timeout_s: float = 30.0
    max_body_mb: float = 32.0
    max_pixels: int = 32_000_000
    versions: int = 1
    poll_s: float = 1.0
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tokens: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "folder", Path(self.folder))
        object.__setattr__(self, "tokens", tuple(self.tokens))
        for name in ("max_batch", "queue", "max_pixels", "versions"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {getattr(self, name)}.")
        for name in ("timeout_s", "max_body_mb", "poll_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"`{name}` must be above 0. Received: {getattr(self, name)}.")
        if self.batch_timeout_ms < 0:
            raise ValueError(
                f"`batch_timeout_ms` must not be negative. Received: {self.batch_timeout_ms}."
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("`tls_cert` and `tls_key` must be given together.")
        if not all(self.tokens):
            raise ValueError("`tokens` must not be empty strings.")

    @property
    def max_body(self):
        """Most bytes of a request."""
        return int(self.max_body_mb * 2**20)
