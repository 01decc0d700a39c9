"""Runs that Weights & Biases follows."""

import secrets

import keras

from keras_vit.files import replacing
from keras_vit.layers.extras import require

ID = "wandb_id.txt"


class WandB(keras.callbacks.Callback):
    """Logs the numbers of each epoch to Weights & Biases.

    What a resumed run logs goes on in the run that it began. (wandb's own callback would do, but
    importing it changes Keras for the whole process.)

    Args:
        project: name of the project.
        folder: folder of the run; wandb's own files lie in it, too.
        config: what the run was started with.

    Raises:
        ImportError: if wandb is not installed.
    """

    writes_files = True

    def __init__(self, project, folder, config):
        super().__init__()
        self.wandb = require("wandb", extra="wandb")
        self.project, self.folder, self.config = project, folder, config

    def on_train_begin(self, logs=None):
        kept = self.folder / ID
        if not kept.exists():
            with replacing(kept) as temporary:
                temporary.write_text(secrets.token_hex(4))
        self.run = self.wandb.init(
            project=self.project,
            config=self.config,
            dir=str(self.folder),
            id=kept.read_text(),
            resume="allow",
        )

    def on_epoch_end(self, epoch, logs=None):
        self.run.log({"epoch": epoch + 1, **logs}, step=epoch + 1)

    def on_train_end(self, logs=None):
        self.run.finish()
