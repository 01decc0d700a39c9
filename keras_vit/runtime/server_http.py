"""Asks a server by TF Serving's REST interface, with Python's own HTTP client."""

import base64
import http.client
import json
import urllib.error
import urllib.request

import numpy as np

from keras_vit.runtime.server_failures import CODES, failure


class Http:
    """A model behind `http://host:port/v1/models/NAME[/versions/N]`.

    Args:
        address: that address.
        token: bearer token, or None.
        seconds: most seconds for an answer.
    """

    def __init__(self, address, token, seconds):
        self._address, self._seconds = address.rstrip("/"), seconds
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def inputs(self):
        """Returns the inputs of each signature: dict of signature to dict of name to shape."""
        found = self._ask("/metadata")["metadata"]["signature_def"]["signature_def"]
        return {
            signature: {name: _shape(info) for name, info in definition["inputs"].items()}
            for signature, definition in found.items()
        }

    def predict(self, signature, name, values):
        """Returns the outputs of a signature with one input.

        Args:
            signature: its name.
            name: the input's name.
            values: array of numbers, or list of bytes.

        Returns:
            dict of name to array.
        """
        is_text = isinstance(values, list)
        values = [_base64(value) for value in values] if is_text else values.tolist()
        body = {"signature_name": signature, "inputs": {name: values}}
        outputs = self._ask(":predict", json.dumps(body).encode("ascii"))["outputs"]
        if not isinstance(outputs, dict):  # the only output goes without its name
            outputs = {"logits": outputs}
        return {key: np.array(value) for key, value in outputs.items()}

    def _ask(self, path, body=None):
        request = urllib.request.Request(self._address + path, body, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=self._seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                code = CODES.get(error.code, "INTERNAL")
                raise failure(self._address, code, _said(error)) from error
        except TimeoutError as error:
            text = f"No answer within {self._seconds:g} seconds."
            raise failure(self._address, "DEADLINE_EXCEEDED", text) from error
        except urllib.error.URLError as error:
            text = f"No server answers ({error.reason})."
            raise failure(self._address, "UNAVAILABLE", text) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            text = f"What answers is no TF Serving ({error})."
            raise failure(self._address, "UNAVAILABLE", text) from error


def _said(error):
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"


def _shape(info):
    return tuple(int(dim["size"]) for dim in info["tensor_shape"].get("dim", ()))


def _base64(content):
    return {"b64": base64.b64encode(content).decode("ascii")}
