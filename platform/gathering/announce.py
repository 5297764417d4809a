"""Announces changes of a session to its waiting rooms. Messages may be lost: pages also ask every few seconds."""

from __future__ import annotations

from channels.layers import get_channel_layer

from matches.channels import in_background


def channel_of(session: int) -> str:
    """Return the channel group of a session's waiting rooms."""
    return f"session.{session}"


def changed(session: int) -> None:
    """Let every page of a session ask where it stands."""
    sending = get_channel_layer().group_send(channel_of(session), {"type": "session.changed"})
    in_background(sending, to="waiting rooms")
