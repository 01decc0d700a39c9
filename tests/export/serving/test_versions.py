"""Which version an export becomes, and what is left alone."""

import pytest

from keras_vit.export.serving.versions import version_folder


def test_the_next_version_follows_the_highest(tmp_path):
    assert version_folder(tmp_path / "digits") == tmp_path / "digits" / "1"
    for name in ("2", "10", ".11.unfinished"):
        (tmp_path / "digits" / name).mkdir(parents=True)
    assert version_folder(str(tmp_path / "digits")) == tmp_path / "digits" / "11"


def test_a_version_can_be_named_and_is_never_replaced(tmp_path):
    assert version_folder(tmp_path / "digits" / "7") == tmp_path / "digits" / "7"
    (tmp_path / "digits" / "7").mkdir(parents=True)
    with pytest.raises(ValueError, match="a version that is there already.*digits/7"):
        version_folder(tmp_path / "digits" / "7")


@pytest.mark.parametrize("name", ["photo.jpg", "saved_model.pb", "3"])
def test_a_folder_of_other_things_is_refused(tmp_path, name):
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match="nothing but its versions"):
        version_folder(tmp_path)


def test_a_file_is_refused(tmp_path):
    (tmp_path / "digits").write_text("")
    with pytest.raises(ValueError, match="nothing but its versions"):
        version_folder(tmp_path / "digits")
