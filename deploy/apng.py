"""Animated PNG from screenshots, with the standard library alone.

Each picture after the first is stored as the rectangle that changed, so a page on which little moves stays small.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}
"""Bytes per pixel by colour type: RGB and RGBA, as browsers write them."""


@dataclass(frozen=True)
class Picture:
    """A decoded PNG: `rows` of `width` pixels with `channels` bytes each."""

    width: int
    height: int
    channels: int
    rows: tuple[bytes, ...]


@dataclass(frozen=True)
class Frame:
    """A screenshot, shown for some milliseconds."""

    png: bytes
    milliseconds: int


def decode(png: bytes) -> Picture:
    """Return the picture in a PNG of 8 bits per channel without interlacing.

    Raises:
        ValueError: the file is of another kind.
    """
    chunks = dict[bytes, bytes]()
    for kind, data in chunks_of(png):
        chunks[kind] = chunks.get(kind, b"") + data
    width, height, depth, colour, _compression, _filter, interlace = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if depth != 8 or colour not in CHANNELS or interlace:
        raise ValueError("only 8 bits per channel, RGB or RGBA, without interlacing")
    channels = CHANNELS[colour]
    data, stride = zlib.decompress(chunks[b"IDAT"]), width * channels
    rows: list[bytes] = []
    above = bytes(stride)
    for start in range(0, len(data), stride + 1):
        above = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + stride]), above, channels)
        rows.append(above)
    return Picture(width, height, channels, tuple(rows))


def chunks_of(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the (kind, data) of a PNG's chunks."""
    if not png.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    start = len(SIGNATURE)
    while start < len(png):
        (length,) = struct.unpack_from(">I", png, start)
        yield png[start + 4 : start + 8], png[start + 8 : start + 8 + length]
        start += length + 12


def _unfiltered(kind: int, row: bytearray, above: bytes, channels: int) -> bytes:
    """Undo the filter of one row (PNG specification, section 9)."""
    match kind:
        case 1:
            for i in range(channels, len(row)):
                row[i] = (row[i] + row[i - channels]) & 255
        case 2:
            for i, value in enumerate(above):
                row[i] = (row[i] + value) & 255
        case 3:
            for i, value in enumerate(above):
                left = row[i - channels] if i >= channels else 0
                row[i] = (row[i] + (left + value) // 2) & 255
        case 4:
            for i, value in enumerate(above):
                left, corner = (row[i - channels], above[i - channels]) if i >= channels else (0, 0)
                distances = abs(value - corner), abs(left - corner), abs(left + value - 2 * corner)
                nearest = (left, value, corner)[distances.index(min(distances))]
                row[i] = (row[i] + nearest) & 255
    return bytes(row)


def animate(frames: Sequence[Frame]) -> bytes:
    """Return an animated PNG that repeats the frames forever; pictures that equal the one before only extend it."""
    shown: list[tuple[Picture, int]] = []
    for frame in frames:
        picture = decode(frame.png)
        if shown and picture == shown[-1][0]:
            shown[-1] = (picture, shown[-1][1] + frame.milliseconds)
        else:
            shown.append((picture, frame.milliseconds))
    first = shown[0][0]
    colour = next(kind for kind, channels in CHANNELS.items() if channels == first.channels)
    written = [
        SIGNATURE,
        _chunk(b"IHDR", struct.pack(">IIBBBBB", first.width, first.height, 8, colour, 0, 0, 0)),
        _chunk(b"acTL", struct.pack(">II", len(shown), 0)),
    ]
    number, before = 0, None
    for picture, milliseconds in shown:
        left, top, right, bottom = _changed(before, picture)
        place = (right - left, bottom - top, left, top)
        written.append(_chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *place, milliseconds, 1000, 0, 0)))
        number += 1
        pixels = _compressed(picture, left, top, right, bottom)
        if before is None:
            written.append(_chunk(b"IDAT", pixels))
        else:
            written.append(_chunk(b"fdAT", struct.pack(">I", number) + pixels))
            number += 1
        before = picture
    return b"".join([*written, _chunk(b"IEND", b"")])


def _changed(before: Picture | None, after: Picture) -> tuple[int, int, int, int]:
    """Return the rectangle (left, top, right, bottom) in which two pictures differ; all of it if there is no first."""
    if before is None:
        return 0, 0, after.width, after.height
    if (before.width, before.height, before.channels) != (after.width, after.height, after.channels):
        raise ValueError("the pictures have different sizes")
    rows = [i for i, row in enumerate(after.rows) if row != before.rows[i]]
    columns = [
        i // after.channels
        for y in rows
        for line, old in [(after.rows[y], before.rows[y])]
        for i in (_first_difference(line, old), len(line) - 1 - _first_difference(line[::-1], old[::-1]))
    ]
    return min(columns), rows[0], max(columns) + 1, rows[-1] + 1


def _first_difference(one: bytes, other: bytes) -> int:
    return next(i for i, value in enumerate(one) if value != other[i])


def _compressed(picture: Picture, left: int, top: int, right: int, bottom: int) -> bytes:
    """Return a rectangle's pixels as a PNG stores them, filtered by the row above, which suits flat pages."""
    channels, data, above = picture.channels, bytearray(), bytes((right - left) * picture.channels)
    for row in picture.rows[top:bottom]:
        line = row[left * channels : right * channels]
        difference = bytes((value - over) & 255 for value, over in zip(line, above, strict=True))
        data += b"\x02" + difference
        above = line
    return zlib.compress(bytes(data), 9)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
