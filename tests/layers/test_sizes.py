import pytest

from keras_vit.layers.sizes import pair, patch_grid


def test_pair():
    assert pair("side", 7) == (7, 7)
    assert pair("side", [5, 3]) == (5, 3)
    assert pair("side", (5, 3)) == (5, 3)


@pytest.mark.parametrize("value", [0, -1, (3,), (3, 5, 7), (3, 0), (3, 5.0), "16", 16.0, None])
def test_what_is_not_a_size(value):
    with pytest.raises(ValueError) as caught:
        pair("patch_size", value)
    assert str(caught.value) == (
        "`patch_size` must be a positive integer or two of them (height, width). "
        f"Received: {value!r}."
    )


def test_patch_grid():
    assert patch_grid((6, 15), (2, 3)) == (3, 5)
    assert patch_grid(224, 16) == (14, 14)


@pytest.mark.parametrize(("image", "patch"), [((7, 15), (2, 3)), ((6, 16), (2, 3)), (30, 16)])
def test_the_patch_must_divide_the_image(image, patch):
    with pytest.raises(ValueError, match="`patch_size` must divide `image_size`. Received:"):
        patch_grid(image, patch)
