"""`keras-vit parity`."""

import json


def test_a_table_a_page_and_numbers(cli, digits, model, tmp_path):
    page, numbers = tmp_path / "page.html", tmp_path / "found.json"
    result = cli(
        "parity", model, digits, "--formats", "float32,cpu", "--images", "5",
        "--html", page, "--json", numbers,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "5 images, one at a time." in result.stdout
    found = json.loads(numbers.read_text())
    assert [row["name"] for row in found["formats"]] == ["keras", "float32", "cpu"]
    assert "<th>float32</th>" in page.read_text()


def test_a_wrong_format_is_one_sentence(cli, digits, model):
    result = cli("parity", model, digits, "--formats", "tflite")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1
