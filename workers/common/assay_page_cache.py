"""What the operating system holds of files in memory: let go of it, fill it, count it. Needs no rights.

A region is (path, begin, bytes); 0 bytes reach to the end of the file.
"""

import ctypes
import mmap
import os

_READ_BYTES = 1 << 20


def drop(region):
    """Lets go of the pages of a region that are written to disk; a page at its end that it shares with others stays."""
    path, begin, size = region
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, begin, size, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def drop_files(paths):
    """The same for whole files, written to disk first: only such pages can be let go."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def read_files(paths):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.read(_READ_BYTES):
                pass


def resident_pages(paths):
    """(pages in memory, pages in all), as mincore(2) says."""
    resident = total = 0
    for path in paths:
        found = _resident_of(path)
        resident, total = resident + sum(byte & 1 for byte in found), total + len(found)
    return resident, total


def _resident_of(path):
    """A byte for each page of a file."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    size = os.stat(path).st_size
    if size == 0:
        return b""
    found = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        try:
            if libc.mincore(address, size, found) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        finally:
            libc.munmap(address, size)
    finally:
        os.close(descriptor)
    return bytes(found)
