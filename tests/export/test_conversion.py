"""The converter's process: an abort is an error with its log, and the next request still runs."""

import sys

import numpy as np
import pytest

from keras_vit.export.conversion import Conversion

ABORT = """
import os, sys
sys.stdin.readline()
sys.stderr.write("first line\\nlibrary.cc:7 variable != nullptr was not true.\\n")
sys.stderr.flush()
os.abort()
"""
ECHO = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"error": f"{request['precision']} {os.path.exists(request['images'])}"}),
          flush=True)
"""


def started_by(program, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(program)
    return Conversion((sys.executable, str(path)))


def test_a_native_abort_is_an_error_with_its_log(tmp_path):
    convert = started_by(ABORT, tmp_path)
    for _ in range(2):  # the second request starts another process
        with pytest.raises(ValueError, match="code -6.*first line / library.cc:7 variable"):
            convert("folder", "float32", "out")
    assert convert._process is None


def test_one_process_serves_all_requests(tmp_path):
    convert = started_by(ECHO, tmp_path)
    with pytest.raises(ValueError, match="full_int8 True"):
        convert("folder", "full_int8", "out", np.zeros((1, 2, 2, 1)))
    first = convert._process.pid
    with pytest.raises(ValueError, match="float32 True"):
        convert("folder", "float32", "out", np.zeros((1, 2, 2, 1)))
    assert convert._process.pid == first
    convert._process.kill()
    convert._process.wait()
    with pytest.raises(ValueError, match="cpu True"):  # one that died in between is replaced
        convert("folder", "cpu", "out", np.zeros((1, 2, 2, 1)))
    convert.close()
