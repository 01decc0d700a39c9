"""`keras-vit serve`."""

import pytest

from keras_vit.export import server


@pytest.fixture
def run(monkeypatch):
    """Notes the settings instead of serving."""
    given = []
    monkeypatch.setattr(server, "run", given.append)
    return given


def test_defaults_are_those_of_the_settings(cli, run, tmp_path):
    result = cli("serve", tmp_path)
    assert result.exit_code == 0, result.output
    assert run == [server.Settings(tmp_path)]
    assert run[0].host == "127.0.0.1"


def test_every_setting_has_an_option(cli, run, tmp_path):
    values = {
        "host": "0.0.0.0",
        "port": 1,
        "rest_port": 2,
        "max_batch": 3,
        "batch_timeout_ms": 4.5,
        "queue": 6,
        "timeout_s": 7.5,
        "max_body_mb": 8.5,
        "max_pixels": 9,
        "versions": 10,
        "poll_s": 11.5,
        "tls_cert": tmp_path / "cert",
        "tls_key": tmp_path / "key",
    }
    assert {"folder", "tokens", *values} == set(server.Settings.__dataclass_fields__)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]
    result = cli("serve", tmp_path, *options, "--token", "one", "--token", "two")
    assert result.exit_code == 0, result.output
    assert run == [server.Settings(tmp_path, tokens=("one", "two"), **values)]


def test_a_token_of_the_environment(cli, run, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_VIT_TOKEN", "secret")
    assert cli("serve", tmp_path).exit_code == 0
    assert run[0].tokens == ("secret",)


def test_errors_are_one_sentence(cli, tmp_path):
    result = cli("serve", tmp_path / "gone")
    assert result.exit_code == 1 and result.stderr.startswith("Error: There is no folder")
    result = cli("serve", tmp_path)
    assert result.exit_code == 1 and "holds no model" in result.stderr
    result = cli("serve", tmp_path, "--queue", "0")
    assert result.exit_code == 1 and "`queue` must be at least 1" in result.stderr
