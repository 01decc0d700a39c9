import numpy as np
from sklearn.datasets import load_digits

from keras_vit.data import open_data, write_digits
from keras_vit.data.decode import decode


def test_all_digits_are_there(tmp_path):
    records = open_data(write_digits(tmp_path / "digits"))
    digits = load_digits()
    assert records.class_names == tuple("0123456789")
    assert records.class_sizes.tolist() == np.bincount(digits.target).tolist()
    for index in range(0, 1797, 97):
        pixels = decode(records.read(index), 1)[..., 0].numpy()
        number = int(records.name(index)[-8:-4])
        assert digits.target[number] == records.labels[index]
        np.testing.assert_allclose(pixels, digits.images[number] * 255 / 16, atol=0.5)


def test_a_few_of_each(tmp_path):
    records = open_data(write_digits(tmp_path / "digits", per_class=3))
    assert records.class_sizes.tolist() == [3] * 10


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    write_digits(tmp_path, per_class=3)
    assert list(tmp_path.iterdir()) == []
