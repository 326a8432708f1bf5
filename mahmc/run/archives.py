"""Reading an NPZ archive that anybody may have made: nothing is executed, and no more is allocated than its size."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

MOST_TEXT = 2**24  # bytes of the description of a run
# What broken archives raise while they are read.
BROKEN = (
    ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error, NotImplementedError,
    RuntimeError, RecursionError, OverflowError, MemoryError,
)  # fmt: skip


class BrokenArchive(Exception):
    """The file is not an archive of plain arrays, or is damaged."""


def read_archive(path: Path, about: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the JSON object that the array `about` has, and all other arrays.

    Raises
    ------
    BrokenArchive
        If the file is not such an archive.
    OSError
        If the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
            if len(members) != len(archive.infolist()) or members[about].file_size > MOST_TEXT:
                raise BrokenArchive
            for member in members.values():
                _refuse_unless_plain(archive, member)
        with np.load(path, allow_pickle=False) as arrays:
            description = json.loads(arrays[about].tobytes().decode())
            found = {name: arrays[name] for name in members if name != about}
    except BROKEN:
        raise BrokenArchive from None
    if not isinstance(description, dict):
        raise BrokenArchive
    return description, found


def _refuse_unless_plain(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a member that is compressed or encrypted, or whose header promises other than what follows."""
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 or member.file_size != member.compress_size:
        raise BrokenArchive
    with archive.open(member) as file:
        shape, dtype = _header(file)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
            raise BrokenArchive


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
