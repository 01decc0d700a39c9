"""What rows do by this package's own commands: train on Fashion-MNIST, and measure on its tests."""

import json
import subprocess
import sys

from keras_vit.data.fashion_mnist import write_fashion_mnist


def pictures(work, source):
    """Returns the folder of Fashion-MNIST's pictures below `work`; writes what is not there.

    Args:
        work: a row's folder.
        source: folder of the data set's files, see `write_fashion_mnist`.
    """
    return write_fashion_mnist(source, work / "data")


def trained(recipe, data, run, options):
    """Returns the figures of a run of `keras-vit train` and of its last model on the test images.

    Args:
        recipe: its name.
        data: folder of the pictures.
        run: folder of the run: one that was stopped goes on.
        options: more options of `keras-vit train`.
    """
    command("train", recipe, str(data), "--out", str(run), "--resume-if-any", *options)
    accuracy = accuracy_on_tests(run / "model.keras", data, run / "test.json")
    head, *epochs = [row.split(",") for row in (run / "history.csv").read_text().splitlines()]
    seconds = head.index("seconds")
    return {
        "training_minutes": round(sum(float(row[seconds]) for row in epochs) / 60, 1),
        "test_accuracy": accuracy,
    }


def accuracy_on_tests(model, data, path):
    """Returns the accuracy of a model on the test images, kept in `path`."""
    if not path.exists():
        command("evaluate", str(model), str(data), "--split", "test", "--json", str(path))
    return json.loads(path.read_text())["accuracy"]


def set_options(changes):
    """Returns changes of a recipe as options.

    Example:

    >>> set_options(["epochs=1", "seed=2"])
    ['--set', 'epochs=1', '--set', 'seed=2']
    """
    return [part for change in changes for part in ("--set", change)]


def command(*arguments):
    """Runs a `keras-vit` command of this very environment.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    code = "import sys; from keras_vit.cli.main import main; sys.argv[0] = 'keras-vit'; main()"
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
