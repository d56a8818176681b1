"""Records of a TFRecord file, the format of TensorFlow's own reader: the size, the bytes, and a checksum of each."""

import struct

HEADER_BYTES = 12


def record(content):
    """`content` as it stands in a file; its own bytes begin after HEADER_BYTES."""
    size = struct.pack("<Q", len(content))
    return b"".join((size, _checksum(size), content, _checksum(content)))


def crc32c(content):
    """Of Castagnoli's polynomial (RFC 3720, appendix B.4); zlib and binascii have another one."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _checksum(content):
    """Turned and shifted, so that a checksum of bytes with checksums in them is a good one too."""
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _entry(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


_TABLE = [_entry(byte) for byte in range(256)]
