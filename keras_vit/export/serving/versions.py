"""Which version an export becomes."""

from pathlib import Path


def version_folder(path):
    """Returns the folder `NAME/<version>` that an export to `path` is written to.

    Args:
        path: the model's folder, which gets its next version; or a version of it, `NAME/3`.

    Raises:
        ValueError: if the version is there already: a version that is served never changes. Also
            for a folder that holds other things than versions.

    Example:

    >>> version_folder("served/digits").as_posix()
    'served/digits/1'
    """
    path = Path(path)
    if path.name.isdecimal():
        if path.exists():
            raise ValueError(
                "`path` must not be a version that is there already: clients may be using it. "
                f"Received: {path}."
            )
        return path
    return path / str(max(_versions(path), default=0) + 1)


def _versions(folder):
    """The numbers of the versions in a model's folder."""
    if not folder.exists():
        return []
    # Names that begin with a dot are exports that are being written.
    inside = [] if folder.is_file() else [one for one in folder.iterdir() if one.name[0] != "."]
    if folder.is_file() or not all(one.is_dir() and one.name.isdecimal() for one in inside):
        raise ValueError(
            "`path` must be a model's folder, which holds nothing but its versions 1, 2, ..., "
            f"or a new folder. Received: {folder}."
        )
    return [int(one.name) for one in inside]
