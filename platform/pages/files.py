"""Storing images and videos: what they are is read from their content, never from their name."""

from __future__ import annotations

from hashlib import sha256

from django.utils.translation import gettext as _

from pages.models import Media

MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_VIDEO_BYTES = 50 * 1024 * 1024


class BadMedia(ValueError):
    """The file cannot be used; the message tells the researcher why."""


def mime_type_of(data: bytes) -> str:
    """Return the type of an image or video by its first bytes.

    Raises:
        BadMedia: it is of another type.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp":
        return "video/mp4"
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm"
    raise BadMedia(_("Please choose an image (PNG, JPEG, WebP or GIF) or a video (MP4 or WebM)."))


def refuse_large(size: int, limit: int) -> None:
    """Raise BadMedia if a file of this size is above the limit, both in bytes."""
    if size > limit:
        what = _("This file has {size:.1f} MB; the limit is {limit} MB.")
        raise BadMedia(what.format(size=size / 1024**2, limit=limit // 1024**2))


def usable_type_of(data: bytes) -> str:
    """Return the type of an image or video that is not too large.

    Raises:
        BadMedia
    """
    mime_type = mime_type_of(data)
    refuse_large(len(data), MAX_VIDEO_BYTES if mime_type.startswith("video/") else MAX_IMAGE_BYTES)
    return mime_type


def store(study: str, name: str, data: bytes, *, kind: str = "") -> Media:
    """Store a file under its name, replacing an earlier one of that name; launched versions keep showing the old one.

    Args:
        study: the study's short name.
        kind: "image" or "video", if only that will do.

    Raises:
        BadMedia
    """
    mime_type = usable_type_of(data)
    if kind == "image" and not mime_type.startswith("image/"):
        raise BadMedia(_("This is a video. Please choose an image: PNG, JPEG, WebP or GIF."))
    if kind == "video" and not mime_type.startswith("video/"):
        raise BadMedia(_("This is an image. Please choose a video: MP4 or WebM."))
    name = name[-100:]
    digest = sha256(data).hexdigest()
    earlier = Media.objects.filter(study=study, name=name).exclude(sha256=digest).first()
    if earlier is not None:
        earlier.name = f"{earlier.sha256[:12]} {earlier.name}"[:100]
        earlier.save(update_fields=["name"])
    values = {"mime_type": mime_type, "sha256": digest, "size": len(data), "data": data}
    return Media.objects.update_or_create(study=study, name=name, defaults=values)[0]
