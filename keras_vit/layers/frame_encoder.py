"""Turns the patches of a clip's frames into one sequence of tokens."""

import keras
from keras import ops

from keras_vit.layers.patch_encoder import PatchEncoder


@keras.saving.register_keras_serializable(package="keras_vit")
class FrameEncoder(PatchEncoder):
    """A `PatchEncoder` for clips: to the place in the frame comes the place in time.

    The tokens of a clip are `[class, patches of frame 0, patches of frame 1, …]`. There is one
    class token a clip; it gets no place in time.

    Args:
        width: size of a token.
        grid: (rows, columns) of the patches of a frame.
        frames: frames of a clip.
        position, class_token, class_position: as in `PatchEncoder`.

    Call arguments:
        patches: `[b * frames, rows * columns, p * p * c]`, the frames of a clip one after another.

    Returns:
        `[b, class_token + frames * rows * columns, width]`.

    Reference:
        Bertasius et al., *Is Space-Time Attention All You Need for Video Understanding?*, 2021,
        arXiv 2102.05095.

    Example:

    >>> FrameEncoder(width=8, grid=(2, 3), frames=5)(keras.ops.ones((10, 6, 48))).shape
    TensorShape([2, 31, 8])
    """

    def __init__(
        self,
        width,
        grid,
        frames,
        position="learned",
        class_token=True,
        class_position=True,
        **kwargs,
    ):
        super().__init__(
            width,
            grid,
            position=position,
            class_token=class_token,
            class_position=class_position,
            **kwargs,
        )
        self.frames = frames

    def build(self, input_shape):
        super().build(input_shape)
        # Zero, as in the original: a clip of one picture starts as that picture.
        self.time = self._token_weight("time", self.frames, "zeros")

    def call(self, patches):
        self._check_count(patches.shape)
        tokens = self._placed(self.projection(patches))
        clips = ops.reshape(tokens, (-1, self.frames, *tokens.shape[1:]))
        clips = clips + ops.reshape(self.time, (1, self.frames, 1, self.width))
        return self._with_prefix(ops.reshape(clips, (-1, self._count(), self.width)))

    def compute_output_shape(self, input_shape):
        batch = input_shape[0] and input_shape[0] // self.frames
        return batch, self.num_prefix + self._count(), self.width

    def _count(self):
        return self.frames * self.grid[0] * self.grid[1]
