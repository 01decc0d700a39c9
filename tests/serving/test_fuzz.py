"""The REST surface under requests that nobody thought of: no 500, and the server lives."""

import http.client
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.pictures import encode, smooth
from tests.serving.clients import NAME, by_rest, in_base64

pytestmark = pytest.mark.prove
PICTURE = in_base64(encode(smooth(17, 13), "PNG"))
# Of these any request that the server answers can be put together, and many that it must refuse.
WORDS = [
    "instances", "inputs", "signature_name", "examples", "context", "b64", "image_bytes", "images",
    "image/encoded", "serving_default", "serving_uint8", "serving_bytes", "classify", "features",
    "explain", "",
]  # fmt: skip
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([2**63, -(2**70), 1e308, 256]))
LEAVES = st.one_of(
    st.none(), st.booleans(), NUMBERS, st.text(max_size=9), st.sampled_from(WORDS), st.just(PICTURE)
)
KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=5))
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
# A request as it should be, but for what its parts hold.
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "signature_name": st.sampled_from(WORDS) | JSON,
        "instances": st.lists(st.just(PICTURE) | JSON, max_size=3) | JSON,
        "inputs": st.dictionaries(st.sampled_from(WORDS), JSON, max_size=2) | JSON,
        "examples": st.lists(st.dictionaries(KEYS, JSON, max_size=2), max_size=2) | JSON,
        "context": JSON,
    },
)
BODIES = st.one_of(
    REQUESTS.map(lambda value: json.dumps(value).encode()),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=99),
    st.integers(1, 10**5).map(lambda depth: b"[" * depth),
    st.integers(1, 10**5).map(lambda depth: b'{"instances":' * (depth // 12)),
)
PIECES = [
    "v1", "models", NAME, "versions", "labels", "1", "2", "-1", "99999999999999999999", "..", ".",
    "%2e%2e", "%00", "%2F", "etc", "passwd", "metadata", "metrics", "healthz", "readyz", "page.js",
    "%ff", "", ":predict", f"{NAME}:predict", f"{NAME}:classify", f"{NAME}:regress", "1:predict",
]  # fmt: skip
PATHS = st.one_of(
    st.sampled_from([f"/v1/models/{NAME}:{verb}" for verb in ("predict", "classify")]),
    st.lists(st.sampled_from(PIECES), max_size=6).map(lambda pieces: "/" + "/".join(pieces)),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30).map("/{}".format),
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
HEADERS = st.dictionaries(
    st.sampled_from(
        ["Content-Type", "Authorization", "X-Request-Id", "Accept", "Content-Encoding"]
    ),
    st.sampled_from(["application/json", "text/html", "gzip", "deflate", "br", "Bearer x", "\xff"]),
    max_size=2,
)
EXAMPLES = settings(
    max_examples=300, deadline=None, database=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


def status_of(served, method, path, body=None, headers=None):
    """The status of a request, sent as it is."""
    client = http.client.HTTPConnection(served.rest, timeout=60)
    client.putrequest(method, path, skip_host=False)
    for name, value in (headers or {}).items():
        client.putheader(name, value)
    if body is not None:
        client.putheader("Content-Length", str(len(body)))
    client.endheaders(body)
    try:
        return client.getresponse().status
    finally:
        client.close()


def check(served, status):
    # 501 is the honest answer to `:regress`; 500 never is one.
    assert status < 500 or status == 501
    assert served.process.poll() is None


@EXAMPLES
@given(verb=st.sampled_from(["predict", "classify"]), body=BODIES)
def test_bodies(served, verb, body):
    check(served, status_of(served, "POST", f"/v1/models/{NAME}:{verb}", body))


@EXAMPLES
@given(method=METHODS, path=PATHS, headers=HEADERS, body=st.none() | BODIES)
def test_everything(served, method, path, headers, body):
    check(served, status_of(served, method, path, body, headers))


def test_it_still_answers_afterwards(served):
    body = {"signature_name": "serving_bytes", "instances": [PICTURE]}
    assert by_rest(served, f"/v1/models/{NAME}:predict", body)[0] == 200
    os.kill(served.process.pid, 0)  # the same process
