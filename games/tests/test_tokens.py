"""Colours and marks of seats: readable on every page, and distinguishable without full colour vision."""

from __future__ import annotations

from itertools import combinations

import pytest

from games import tokens

SEATS = [f"seat-{number}" for number in range(1, tokens.SEATS + 1)]
Colour = tuple[float, float, float]
# Machado, Oliveira and Fernandes (2009), severity 1, applied to linear RGB.
VISION: dict[str, tuple[Colour, Colour, Colour]] = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def times(matrix: tuple[Colour, Colour, Colour], colour: Colour) -> Colour:
    red, green, blue = (sum(a * b for a, b in zip(row, colour, strict=True)) for row in matrix)
    return red, green, blue


def linear(colour: str) -> Colour:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    low, high = sorted(
        sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))
        for colour in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def oklab(colour: Colour) -> Colour:
    cones = times(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        colour,
    )
    return times(
        (
            (0.2104542553, 0.793617785, -0.0040720468),
            (1.9779984951, -2.428592205, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.808675766),
        ),
        tuple(max(cone, 0) ** (1 / 3) for cone in cones),  # type: ignore[arg-type]
    )


def distance(one: str, other: str, vision: str) -> float:
    """Return how far apart two colours look, in hundredths of OKLab; about 2 is just noticeable."""
    pair = [oklab(times(VISION[vision], linear(colour))) for colour in (one, other)]
    return 100 * float(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5)


@pytest.mark.parametrize("dark", [False, True])
def test_seats_stand_out_from_what_is_behind_them(dark):
    for seat in SEATS:
        for behind in ("card", "paper"):
            assert contrast(tokens.colour(seat, dark=dark), tokens.colour(behind, dark=dark)) >= 3


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["ink", "muted", "accent", "second", "good", "bad"])
def test_words_are_readable(name, dark):
    for behind in ("card", "paper", "words"):
        assert contrast(tokens.colour(name, dark=dark), tokens.colour(behind, dark=dark)) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("vision", list(VISION))
def test_any_two_seats_differ_in_colour_for_everyone(vision, dark):
    colours = [tokens.colour(seat, dark=dark) for seat in SEATS]
    assert min(distance(a, b, vision) for a, b in combinations(colours, 2)) > 4
    assert min(distance(a, b, vision) for a, b in combinations(colours[:4], 2)) > 10


def test_the_first_64_seats_look_different():
    assert len({tokens.css_class(index) for index in range(64)}) == 64
    assert tokens.css_class(2) == "seat-3"
    assert tokens.css_class(8) == "seat-1 mark-2"


def test_every_mark_has_its_own_outline_within_its_box():
    paths = {tokens.mark_path(number) for number in range(1, tokens.SEATS + 1)}
    assert len(paths) == tokens.SEATS
    assert tokens.mark_path(4, size=10) == "M0,-5L5,0L0,5L-5,0Z"


def test_an_unknown_colour_is_an_error():
    with pytest.raises(KeyError):
        tokens.colour("seat-9")
    with pytest.raises(KeyError):
        tokens.colour("mark-1")
