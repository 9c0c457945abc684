"""Reads a PNG with a palette, without our own code or Pillow."""

import struct
import zlib

import numpy as np


def png_read(png: bytes) -> tuple[np.ndarray, list[str]]:
    """Return the indices of the pixels of a PNG with a palette, and the palette."""
    chunks, at = {}, 8
    while at < len(png):
        (size,), name = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        chunks[name] = png[at + 8 : at + 8 + size]
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), "uint8").reshape(height, width + 1)
    palette = chunks[b"PLTE"].hex().upper()
    return rows[:, 1:], ["#" + palette[i : i + 6] for i in range(0, len(palette), 6)]
