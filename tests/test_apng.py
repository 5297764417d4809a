"""Screenshots become an animated PNG that any browser shows."""

from __future__ import annotations

import struct
import zlib

import pytest

from deploy import apng
from deploy.apng import Frame, Picture, animate, chunks_of, decode

WHITE, RED = b"\xff\xff\xff\xff", b"\xff\x00\x00\xff"


def png(rows: list[bytes], *, kind: int = 0) -> bytes:
    """Return a PNG of RGBA rows, each stored with the filter `kind` (0: none, 1: by the pixel to the left)."""
    width = len(rows[0]) // 4
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 6, 0, 0, 0)
    stored = b""
    for row in rows:
        left = bytes(4) + row if kind else bytes(len(row) + 4)
        stored += bytes([kind]) + bytes((value - before) & 255 for value, before in zip(row, left, strict=False))
    data = apng._chunk(b"IHDR", header) + apng._chunk(b"IDAT", zlib.compress(stored)) + apng._chunk(b"IEND", b"")
    return apng.SIGNATURE + data


def frames_of(animation: bytes) -> list[tuple[int, int, int, int, int]]:
    """Return each frame's width, height, x, y and milliseconds."""
    controls = [struct.unpack(">IIIIIHHBB", data) for kind, data in chunks_of(animation) if kind == b"fcTL"]
    return [(*control[1:5], control[5] * 1000 // control[6]) for control in controls]


@pytest.mark.parametrize("kind", [0, 1])
def test_picture_is_read_whatever_its_filter(kind: int):
    rows = [WHITE * 3, WHITE + RED + WHITE]
    assert decode(png(rows, kind=kind)) == Picture(3, 2, 4, tuple(rows))


def test_later_frames_hold_what_changed():
    before, after = [WHITE * 4, WHITE * 4, WHITE * 4], [WHITE * 4, WHITE + RED * 2 + WHITE, WHITE * 4]
    animation = animate([Frame(png(before), 500), Frame(png(after), 2000)])
    assert frames_of(animation) == [(4, 3, 0, 0, 500), (2, 1, 1, 1, 2000)]
    assert decode(animation).rows == tuple(before), "programs that know no animation show the first frame"


def test_frames_that_are_alike_are_one():
    still = png([WHITE * 2])
    assert frames_of(animate([Frame(still, 500), Frame(still, 300)])) == [(2, 1, 0, 0, 800)]


def test_pictures_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="different sizes"):
        animate([Frame(png([WHITE]), 1), Frame(png([WHITE * 2]), 1)])
