"""`keras-vit models`."""

from keras_vit import list_models


def test_the_names_one_a_line(cli):
    result = cli("models")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == list_models()
