"""Asks a served model what is in pictures, with nothing but Python.

    python client.py http://127.0.0.1:8501/v1/models/NAME PICTURE...

Works with `keras-vit serve` and TF Serving alike. A bearer token is taken from KERAS_VIT_TOKEN.
"""

import base64
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path


def ask(model, paths):
    """Returns the predictions for picture files: for each a dict of output to values."""
    pictures = [base64.b64encode(Path(path).read_bytes()).decode("ascii") for path in paths]
    instances = [{"image_bytes": {"b64": picture}} for picture in pictures]
    body = json.dumps({"signature_name": "serving_bytes", "instances": instances})
    headers = {"Authorization": f"Bearer {os.environ.get('KERAS_VIT_TOKEN', '')}"}
    request = urllib.request.Request(f"{model}:predict", body.encode("ascii"), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["predictions"]


if __name__ == "__main__":
    address, *files = sys.argv[1:]
    try:
        for file, found in zip(files, ask(address, files), strict=True):
            best = f"{found['labels'][0]} {found['scores'][0]:.1%}"
            print(f"{file}: {found['error'] or best}")
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {json.load(error)['error']}")
    except urllib.error.URLError as error:
        sys.exit(f"{address}: {error.reason}")
