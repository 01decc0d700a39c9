"""Pictures of Fashion-MNIST's garments, coloured and put side by side, with captions that say so.

Some combinations of colour, class and place are kept from the training: what is learned of the
parts must carry over to them.
"""

import dataclasses

import numpy as np

CLASSES = (
    "t-shirt",
    "pair of trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "boot",
)
COLOURS = {
    "red": (255, 40, 40),
    "green": (40, 220, 40),
    "blue": (60, 80, 255),
    "yellow": (250, 230, 40),
    "purple": (170, 60, 220),
    "orange": (255, 140, 20),
    "white": (255, 255, 255),
    "cyan": (40, 220, 230),
}
PLACES = ("left", "right")
SIDE = 28
# The colour, the class and the place of a garment stand for `{}`; two garments follow another.
ONE = ("a {} {} on the {}", "there is a {} {} on the {}", "a photo of a {} {} on the {}")
TWO = (
    "a {0} {1} on the {2} and a {3} {4} on the {5}",
    "a {3} {4} on the {5} and a {0} {1} on the {2}",
    "on the {2} a {0} {1}, on the {5} a {3} {4}",
)


@dataclasses.dataclass(frozen=True)
class Garment:
    """What a caption says of a garment, by numbers."""

    colour: int
    kind: int
    place: int

    @property
    def words(self):
        return tuple(COLOURS)[self.colour], CLASSES[self.kind], PLACES[self.place]


def combinations(seed=7, share=0.2):
    """Returns (shown, unseen): all combinations of colour, class and place, in two lists.

    Args:
        seed: which are which.
        share: of all combinations, how many are never shown.
    """
    every = [
        Garment(colour, kind, place)
        for colour in range(len(COLOURS))
        for kind in range(len(CLASSES))
        for place in range(len(PLACES))
    ]
    order = np.random.default_rng(seed).permutation(len(every))
    unseen = set(order[: round(share * len(every))].tolist())
    shown = [garment for number, garment in enumerate(every) if number not in unseen]
    return shown, [every[number] for number in sorted(unseen)]


def picture(garments, grey, labels, generator):
    """Draws garments at their places, `[28, 56, 3]` uint8.

    Args:
        garments: one or two of them, at different places.
        grey: Fashion-MNIST's images, uint8 `[n, 28, 28]`.
        labels: dict from a class to the numbers of its images.
        generator: a numpy generator: which image of the class is taken.
    """
    canvas = np.zeros((SIDE, SIDE * len(PLACES), 3), "uint8")
    colours = np.array(list(COLOURS.values())) / 255
    for garment in garments:
        image = grey[generator.choice(labels[garment.kind])]
        start = SIDE * garment.place
        canvas[:, start : start + SIDE] = image[..., None] * colours[garment.colour]
    return canvas


def caption(garments, generator):
    """Says what is in a picture, in one of a few ways."""
    ways = ONE if len(garments) == 1 else TWO
    words = [word for garment in garments for word in garment.words]
    return generator.choice(ways).format(*words)


def training_pairs(grey, labels, count, seed):
    """Returns (pictures, captions): half of one garment, half of two, none of them unseen."""
    generator, (shown, _) = np.random.default_rng(seed), combinations()
    pictures, captions = [], []
    for number in range(count):
        garments = [shown[generator.integers(len(shown))]]
        if number % 2:
            others = [garment for garment in shown if garment.place != garments[0].place]
            garments.append(others[generator.integers(len(others))])
        pictures.append(picture(garments, grey, labels, generator))
        captions.append(caption(garments, generator))
    return np.stack(pictures), captions


def unseen_pictures(grey, labels, count, seed):
    """Returns (pictures, class numbers) of single garments in combinations never shown."""
    generator, (_, unseen) = np.random.default_rng(seed), combinations()
    drawn = [unseen[generator.integers(len(unseen))] for _ in range(count)]
    pictures = [picture([garment], grey, labels, generator) for garment in drawn]
    return np.stack(pictures), np.array([garment.kind for garment in drawn])


def twin_pairs(grey, labels, count, seed):
    """Returns (pictures, captions) of two garments; each second pair is the first mirrored.

    The left garment of a first pair is a combination never shown. The captions of twins have the
    same words in another order, and no two captions are alike.
    """
    generator, (shown, unseen) = np.random.default_rng(seed), combinations()
    left = [garment for garment in unseen if PLACES[garment.place] == "left"]
    right = [garment for garment in shown if PLACES[garment.place] == "right"]
    captions, pictures = [], []
    while len(captions) < count:
        pair = left[generator.integers(len(left))], right[generator.integers(len(right))]
        twin = [dataclasses.replace(garment, place=1 - garment.place) for garment in pair][::-1]
        texts = [
            TWO[0].format(*(word for one in garments for word in one.words))
            for garments in (pair, twin)
        ]
        if texts[0] == texts[1] or set(texts) & set(captions):
            continue
        captions += texts
        pictures += [picture(garments, grey, labels, generator) for garments in (pair, twin)]
    return np.stack(pictures), captions
