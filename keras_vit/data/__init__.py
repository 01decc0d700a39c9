"""Images for training and evaluation: sources, decoding, order, augmentation, batches."""

from keras_vit.data.arrays import from_arrays
from keras_vit.data.augment import AUGMENTATIONS
from keras_vit.data.boxes import Boxes
from keras_vit.data.check import require_whole, scan, skip_broken
from keras_vit.data.decode import decode, fit
from keras_vit.data.digits import write_digits
from keras_vit.data.fashion_mnist import write_fashion_mnist
from keras_vit.data.folder import open_images
from keras_vit.data.order import shuffled_index
from keras_vit.data.pipeline import evaluation_batches, normalised, training_batches
from keras_vit.data.records import Records
from keras_vit.data.sources import (
    Data,
    available_splits,
    find_data,
    find_videos,
    open_data,
    open_train_and_held_out,
)
from keras_vit.data.targets import Captions, Classes, Tags, Unlabelled
from keras_vit.data.tokenizer import Tokenizer

__all__ = [
    "AUGMENTATIONS",
    "Boxes",
    "Captions",
    "Classes",
    "Data",
    "Records",
    "Tags",
    "Tokenizer",
    "Unlabelled",
    "available_splits",
    "decode",
    "evaluation_batches",
    "find_data",
    "find_videos",
    "fit",
    "from_arrays",
    "normalised",
    "open_data",
    "open_images",
    "open_train_and_held_out",
    "require_whole",
    "scan",
    "shuffled_index",
    "skip_broken",
    "training_batches",
    "write_digits",
    "write_fashion_mnist",
]
