"""`.npz` files, as JAX, AugReg and big_vision checkpoints come."""

import math
import os
import zipfile

import numpy as np

from keras_vit.weights.archives.archive import Archive
from keras_vit.weights.archives.damage import refused
from keras_vit.weights.archives.precision import widened

# Version of an array's header -> its reader. 3.0 is for field names beyond Latin-1.
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def open_npz(path):
    """Opens an `.npz`; reads only the arrays' headers.

    Raises:
        ValueError: if it is no archive of arrays, is cut short, or holds pickled objects.
    """
    with refused(f"{path} is not a whole .npz of arrays"), zipfile.ZipFile(path) as archive:
        _require_all_members(archive, path)
        members = {}
        for member in archive.namelist():
            name = _array_name(member)
            if name in members:
                raise ValueError(f"it holds {name!r} twice")
            members[name] = member
        shapes = {name: _shape(archive, member) for name, member in members.items()}
    return Archive(str(path), shapes, lambda name: _read(path, members[name]))


def _require_all_members(archive, path):
    """zipfile takes a directory whose damage hides members for a shorter one."""
    with open(path, "rb") as file:
        file.seek(-22, os.SEEK_END)  # the end record, if no comment follows, as in numpy's files
        end = file.read()
    count, found = int.from_bytes(end[10:12], "little"), len(archive.namelist())
    # From 65535 on, the number stands elsewhere.
    if end.startswith(b"PK\5\6") and count != 0xFFFF and count != found:
        raise ValueError(f"its directory has {found} of {count} members")


def _array_name(member):
    if not member.endswith(".npy"):
        raise ValueError(f"it holds {member!r}, which is no array")
    if member.startswith("/") or ".." in member.split("/"):
        raise ValueError(f"the name {member!r} leads out of the archive")
    return member.removesuffix(".npy")


def _shape(archive, member):
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"{member!r} has a header of version {version}")
        shape, _, dtype = HEADERS[version](file)
        header = file.tell()
    if dtype.hasobject:
        raise ValueError(f"{member!r} holds pickled objects, which may run code")
    # Before anything is allocated: a damaged header may ask for any amount of memory.
    size = archive.getinfo(member).file_size - header
    if math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{member!r} has {size} bytes for an array {dtype} of shape {shape}")
    return shape


def _read(path, member):
    """One array. The archive is opened anew: none stays open that nobody would close."""
    with refused(f"{path}: the array {member!r} is damaged"), zipfile.ZipFile(path) as archive:
        _shape(archive, member)
        with archive.open(member) as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
            file.read()  # at the end of the member, zipfile checks its CRC
    return widened(array, f"{path}: {member!r}")
