"""What a detector takes: images with boxes, and how its batches come."""

import tensorflow as tf

from keras_vit.data import normalised
from keras_vit.data.box_batches import box_batches, evaluation_boxes
from keras_vit.training.inputs import Images


class Boxed(Images):
    """Images with any number of boxes each."""

    def batches(self, setting, preprocessing, step, rows=None):
        recipe = setting.recipe
        if recipe.repeats != 1 or recipe.label_smoothing:
            raise ValueError(
                "`repeats` of images with boxes must be 1, and `label_smoothing` 0. "
                f"Received: repeats={recipe.repeats}, label_smoothing={recipe.label_smoothing}."
            )
        return box_batches(
            setting.train,
            preprocessing,
            recipe.batch_size,
            recipe.seed,
            start_step=step,
            augment=recipe.augment,
            rows=rows,
        )

    def shown(self, setting, preprocessing):
        """The first batches, with the names of what is in each image."""
        names = tf.constant((*preprocessing.class_names, ""))

        def named(images, targets):
            # -1, no box, is the last of the names.
            row = tf.gather(names, tf.math.floormod(targets["labels"], len(names)))
            return images, tf.strings.strip(tf.strings.reduce_join(row, axis=1, separator=" "))

        return self.batches(setting, preprocessing, 0).map(named)

    def validation(self, setting, preprocessing, rows=None):
        size = setting.recipe.batch_size
        return normalised(
            evaluation_boxes(setting.held_out, preprocessing, size, rows=rows), preprocessing
        )


BOXES = Boxed()
