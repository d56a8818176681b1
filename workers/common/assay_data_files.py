"""Makes a data set on disk, the same everywhere: JPEG images, or tokens. Needs numpy, and Pillow for images.

Images are files of their own, and all tokens are one; where chunks are asked for, either is cut into as many files. A
data set is a folder named by what it holds. It is made under another name and renamed when it is complete, by one
process at a time, so that a killed one is made anew.
"""

import fcntl
import hashlib
import io
import itertools
import os
import shutil
import struct
import sys
import time

import assay_tfrecord
import assay_worker

VERSION = 1  # of what is drawn: part of the folder's name
TOKENS = "tokens.u16"
_INDEX = "index.u64"
_FILES_A_FOLDER = 1000
_BYTES_A_PIXEL = 0.7  # more than quality 90 takes for these images: .4 at 256 pixels a side
_QUALITY = 90
_COARSE = 16  # blobs along a side


class DamagedFile(Exception):
    """A file of the data set cannot be read as what it is. Says which."""


def image_path(folder, index):
    return _numbered(folder, index, "jpg")


def image_chunk_path(folder, chunk):
    return _numbered(folder, chunk, "tfrecord")


def token_chunk_path(folder, chunk):
    return _numbered(folder, chunk, "u16")


def chunk_begins(count, chunks):
    """The first sample of each chunk, and behind them `count`. Chunks differ by one sample at most."""
    return [chunk * count // chunks for chunk in range(chunks + 1)]


def images(root, count, side, chunks=None):
    """Folder with `count` images of `side` x `side` pixels: files of their own, or records of `chunks` files."""

    def write(folder):
        for index in range(count):
            with _new_file(image_path(folder, index)) as file:
                file.write(_jpeg(index, side))

    def write_chunks(folder):
        with _new_file(os.path.join(folder, _INDEX)) as places:
            for chunk, samples in enumerate(_samples_of_chunks(count, chunks)):
                with _new_file(image_chunk_path(folder, chunk)) as file:
                    for index in samples:
                        content = _jpeg(index, side)
                        places.write(struct.pack("<2Q", file.tell() + assay_tfrecord.HEADER_BYTES, len(content)))
                        file.write(assay_tfrecord.record(content))

    name = "images-%d-of-%dx%d" % (count, side, side) + _name_end(chunks)
    what = "%d images of %d x %d pixels" % (count, side, side)
    return _made(root, name, what, count * side**2 * _BYTES_A_PIXEL, write if chunks is None else write_chunks)


def image_places(folder, count):
    """Of images in chunks: where each begins in its chunk, and its bytes."""
    import numpy

    path = os.path.join(folder, _INDEX)
    found = numpy.fromfile(path, "<u8").astype("int64")
    if len(found) != 2 * count:
        raise DamagedFile("%s is not an index of %d images. Remove its folder: it is made again." % (path, count))
    return found.reshape(count, 2)


def tokens(root, count, length, below, chunks=None):
    """Folder with `count` samples of `length` tokens, each in 2 little-endian bytes and below `below`: one file, or
    `chunks` of them."""

    def write(folder):
        import numpy

        for chunk, samples in enumerate(_samples_of_chunks(count, chunks or 1)):
            path = os.path.join(folder, TOKENS) if chunks is None else token_chunk_path(folder, chunk)
            with _new_file(path) as file:
                for index in samples:
                    drawn = numpy.frombuffer(_bytes("tokens", index, 4 * length), "<u4")
                    file.write((drawn % below).astype("<u2").tobytes())

    name = "tokens-%d-of-%d-below-%d" % (count, length, below) + _name_end(chunks)
    return _made(root, name, "%d samples of %d tokens" % (count, length), 2 * count * length, write)


def _numbered(folder, number, suffix):
    return os.path.join(folder, "%05d" % (number // _FILES_A_FOLDER), "%08d.%s" % (number, suffix))


def _samples_of_chunks(count, chunks):
    begins = chunk_begins(count, chunks)
    return [range(*cut) for cut in itertools.pairwise(begins)]


def _name_end(chunks):
    return ("" if chunks is None else "-in-%d-chunks" % chunks) + "-v%d" % VERSION


def _new_file(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, "wb")


def _bytes(kind, index, size):
    """Drawn by a hash and not by a library's generator, which may change between releases."""
    return hashlib.shake_128(("assay %s %d %d" % (kind, VERSION, index)).encode()).digest(size)


def _jpeg(index, side):
    encoded = io.BytesIO()
    _draw(index, side).save(encoded, "JPEG", quality=_QUALITY)
    return encoded.getvalue()


def _draw(index, side):
    """Blobs of colour with grain over them: somewhat fewer bytes for a pixel than photographs have."""
    from PIL import Image

    grain_side = max(1, side // 2)
    drawn = _bytes("image", index, 3 * (_COARSE**2 + grain_side**2))
    blobs = Image.frombytes("RGB", (_COARSE, _COARSE), drawn[: 3 * _COARSE**2])
    grain = Image.frombytes("RGB", (grain_side, grain_side), drawn[3 * _COARSE**2 :])
    size = (side, side)
    return Image.blend(blobs.resize(size, Image.Resampling.BICUBIC), grain.resize(size, Image.Resampling.BICUBIC), 0.2)


def _made(root, name, what, wanted_bytes, write):
    """The folder called `name`, made by `write(folder)` where it is not there."""
    folder, unfinished = os.path.join(root, name), os.path.join(root, name + ".unfinished")
    if os.path.isdir(folder):
        return folder
    try:
        os.makedirs(root, exist_ok=True)
        with open(os.path.join(root, name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # given back by the kernel when its owner ends, however it ends
            if os.path.isdir(folder):
                return folder
            shutil.rmtree(unfinished, ignore_errors=True)
            _check_space(root, what, wanted_bytes)
            print("assay: making %s in %s" % (what, folder), file=sys.stderr, flush=True)
            begin = time.monotonic()
            os.mkdir(unfinished)
            write(unfinished)
            os.rename(unfinished, folder)
            print("assay: made %s in %.1f s" % (what, time.monotonic() - begin), file=sys.stderr, flush=True)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        message = "data 'files': %s cannot be made in %s: %s. "
        message += "Free some space, or name another folder by ASSAY_DATA_FOLDER."
        raise assay_worker.Refused(message % (what, root, error.strerror or error)) from error
    return folder


def _check_space(root, what, wanted_bytes):
    status = os.statvfs(root)
    free = status.f_bavail * status.f_frsize
    if wanted_bytes > free:
        message = "data 'files': %s take about %d MB, and %s has %d MB left. Ask for fewer or smaller ones, "
        message += "or name another folder by ASSAY_DATA_FOLDER."
        raise assay_worker.Refused(message % (what, wanted_bytes / 1e6, root, free / 1e6))
