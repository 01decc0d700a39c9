"""`keras-vit doctor`."""

import json


def test_blocks_worst_tensors_and_shares(cli, digits, model, tmp_path):
    numbers, nodes = tmp_path / "found.json", tmp_path / "nodes.json"
    result = cli(
        "doctor", model, digits, "--images", "5", "--json", numbers, "--overlay", nodes
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "5 images, float32 beside npu" in result.stdout and "block_0" in result.stdout
    found = json.loads(numbers.read_text())
    assert set(found["shares"]) == {"agreement", "float", "quantised"}
    for share, low, high in found["shares"].values():
        assert -1e-9 <= low <= share <= high <= 1 + 1e-9
    assert set(json.loads(nodes.read_text())["results"]) == {
        one["name"] for one in found["tensors"]
    }


def test_a_profile_in_floats_is_one_sentence(cli, digits, model):
    result = cli("doctor", model, digits, "--profile", "cpu")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1
    assert "must be one in integers (npu, npu-16x8" in result.stderr
