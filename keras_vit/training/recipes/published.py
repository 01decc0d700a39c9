"""What the recipes of papers share."""

IMAGENET = 1_281_167  # training images
IMAGENET_21K = 14_197_122

# JAX code has the tanh form of the GELU.
JAX = {"activation": "gelu_tanh"}
# big_vision measures on the middle 224 of 256 pixels, and so on for larger images.
CENTRE = {"resize": "crop", "crop": 0.875}
# DeiT's, as its table 9 has it.
DEIT_AUGMENT = (
    "resized_crop",
    "flip",
    "timm_rand_augment(9, 0.5)",
    "random_erasing(0.25)",
    "mix_or_cut(0.8, 1.0)",
)
COLOURS = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


def epochs_of(steps, images, batch_size):
    """Returns how many epochs a number of steps are; papers that count steps are stated so.

    Args:
        steps: number of steps.
        images: images of an epoch.
        batch_size: images a step.
    """
    return round(steps / -(-images // batch_size), 2)
