"""Which models and versions lie in a folder, and that nothing in it leads out of it."""

import os
from pathlib import Path

GRAPH, LITE = "saved_model.pb", ".tflite"


def found(folder):
    """Returns what can be served below a path.

    `folder` is one of: a `.tflite` file or a SavedModel folder, whose version is 1 if its name
    is no number; a model with versions, `NAME/<number>/`; a folder of such models. A version
    holds `saved_model.pb` or one `.tflite` file. Names that start with a dot, such as those of
    unfinished exports, are passed over.

    Args:
        folder: `pathlib.Path`.

    Returns:
        dict of model name to dict of version number to path.

    Raises:
        FileNotFoundError: if nothing is there.
    """
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if _is_number(folder) and (folder / GRAPH).is_file():
        return {folder.resolve().parent.name: {int(folder.name): folder}}
    if own := _versions(folder):
        return {_name(folder): own}
    if not folder.is_dir():
        return {}
    inside = {_name(child): _versions(child) for child in _visible(folder)}
    return {name: versions for name, versions in inside.items() if versions}


def _versions(path):
    """The versions of the model at a path, as a dict of number to path; empty for no model."""
    if path.is_file():
        return {1: path} if path.suffix == LITE else {}
    if not path.is_dir():
        return {}
    if (path / GRAPH).is_file():
        return {1: path}
    return {
        int(child.name): child for child in _visible(path) if _is_number(child) and child.is_dir()
    }


def _is_number(path):
    return path.name.isascii() and path.name.isdecimal()


def _visible(folder):
    return sorted(child for child in folder.iterdir() if not child.name.startswith("."))


def _name(path):
    """The model's name: a file's without its ending; a folder's own, even where it is `.`."""
    return path.stem if path.is_file() else path.resolve().name


def files_of(path, root):
    """Returns the files of a version, after seeing that all lie within the served folder.

    Args:
        path: folder or file of a version.
        root: the folder that is served.

    Returns:
        list of `pathlib.Path`.

    Raises:
        ValueError: for a link that leads out.
    """
    root = _home(root)
    entries = [path]
    for folder, folders, names in os.walk(path):
        entries += [Path(folder) / name for name in folders + names]
    for entry in entries:
        if not entry.resolve().is_relative_to(root):
            raise ValueError(f"{entry} leads out of {root}; it is not read.")
    return [entry for entry in entries if entry.is_file()]


def _home(root):
    return root.resolve() if root.is_dir() else root.resolve().parent


def state_of(path):
    """Returns what changes when the files of a version do: names, sizes and times."""
    entries = []
    walk = [(path.parent, (), [path.name])] if path.is_file() else os.walk(path)
    for folder, _, names in walk:
        for name in names:
            try:
                status = os.stat(os.path.join(folder, name))
            except FileNotFoundError:  # it went while we looked
                continue
            entries.append((folder, name, status.st_size, status.st_mtime_ns))
    return tuple(sorted(entries))


def lite_file(path):
    """Returns the one `.tflite` file of a version, or None for a SavedModel.

    Raises:
        ValueError: if there is neither, or more than one.
    """
    if path.is_file():
        return path
    if (path / GRAPH).is_file():
        return None
    files = [child for child in _visible(path) if child.suffix == LITE]
    if len(files) != 1:
        raise ValueError(f"{path} must hold `{GRAPH}` or one `.tflite` file.")
    return files[0]
