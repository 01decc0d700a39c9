import numpy as np

from keras_vit.cli import coloured_garments as garments

GREY = np.full((10, 28, 28), 200, "uint8")
LABELS = {kind: np.array([kind]) for kind in range(10)}


def told(caption):
    """The combinations that a caption names."""
    colours, kinds, places = garments.COLOURS, garments.CLASSES, garments.PLACES
    every = [(c, k, p) for c in colours for k in kinds for p in places]
    ways = ("{0} {1} on the {2}", "on the {2} a {0} {1}")
    return {one for one in every if any(way.format(*one) in caption for way in ways)}


def test_some_combinations_are_kept_back():
    shown, unseen = garments.combinations()
    assert len(shown) == 128 and len(unseen) == 32 and not set(shown) & set(unseen)
    # Each part of an unseen one is shown in others.
    for one in unseen:
        assert any(s.colour == one.colour and s.kind == one.kind for s in shown) or any(
            s.kind == one.kind and s.place == one.place for s in shown
        )


def test_no_caption_of_the_training_names_one():
    _, captions = garments.training_pairs(GREY, LABELS, 300, seed=1)
    named = set.union(*map(told, captions))
    _, unseen = garments.combinations()
    assert len(named) > 100 and not named & {garment.words for garment in unseen}


def test_a_picture_is_what_its_caption_says():
    generator = np.random.default_rng(3)
    red, blue = garments.Garment(0, 4, 1), garments.Garment(2, 8, 0)
    image = garments.picture([red, blue], GREY, LABELS, generator)
    assert image.shape == (28, 56, 3)
    np.testing.assert_array_equal(image[0, 0], np.array([60, 80, 255]) * 200 // 255)
    assert image[0, 28:, 0].min() == 200 and image[0, 28:, 1].max() < 40
    one = garments.picture([red], GREY, LABELS, generator)
    assert not one[:, :28].any()
    assert told(garments.caption([red], generator)) == {("red", "coat", "right")}
    assert len(told(garments.caption([red, blue], generator))) == 2


def test_unseen_pictures_have_their_classes():
    pictures, kinds = garments.unseen_pictures(GREY, LABELS, 50, seed=5)
    assert pictures.shape == (50, 28, 56, 3) and set(kinds) <= set(range(10))


def test_twins_differ_in_the_order_of_their_words_alone():
    pictures, captions = garments.twin_pairs(GREY, LABELS, 20, seed=5)
    assert len(set(captions)) == 20 and len(pictures) == 20
    for one, two, here, there in zip(
        captions[::2], captions[1::2], pictures[::2], pictures[1::2], strict=True
    ):
        assert sorted(one.split()) == sorted(two.split()) and one != two
        np.testing.assert_array_equal(here, np.roll(there, 28, axis=1))
