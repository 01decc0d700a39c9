import numpy as np
import pytest

from keras_vit.objectives import recall_at

# Image 0 is nearest to text 1, then to its own.
IMAGES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
TEXTS = np.array([[0.8, 0.6], [1.0, 0.0], [-1.0, 0.0]])


def test_by_hand():
    # Image 1 is as near to text 2 as to its own, and nearer to text 0.
    assert recall_at(1, IMAGES, TEXTS) == {"image_to_text": 1 / 3, "text_to_image": 2 / 3}
    assert recall_at(2, IMAGES, TEXTS) == {"image_to_text": 2 / 3, "text_to_image": 1.0}
    assert recall_at(3, IMAGES, TEXTS) == {"image_to_text": 1.0, "text_to_image": 1.0}


def test_of_all_alike_none_is_found():
    alike = np.ones((4, 3))
    assert recall_at(1, alike, alike) == {"image_to_text": 0.0, "text_to_image": 0.0}
    assert recall_at(4, alike, alike)["image_to_text"] == 1.0


@pytest.mark.parametrize("k", [0, 4])
def test_k_has_bounds(k):
    with pytest.raises(ValueError, match="`k` must be from 1 to 3"):
        recall_at(k, IMAGES, TEXTS)


def test_pairs_fit():
    with pytest.raises(ValueError, match="must be of one shape"):
        recall_at(1, IMAGES, TEXTS[:2])
