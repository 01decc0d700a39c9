"""`keras-vit weights`."""

from keras_vit.weights import catalog, list_weights


def test_all_rows(cli):
    result = cli("weights")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) >= 1 + len(catalog())


def test_those_of_one_model(cli):
    result = cli("weights", "vit_ti16")
    names = [line.split()[0] for line in result.stdout.splitlines()[1:]]
    assert names == list_weights("vit_ti16")
    assert result.stdout.count("Apache-2.0") == len(names)


def test_a_model_without_weights(cli):
    result = cli("weights", "vit_so400m14")
    assert result.exit_code == 1
    assert "There are no published weights for 'vit_so400m14'. There are for: vit_ti16," in (
        result.stderr.replace("\n", " ")
    )
