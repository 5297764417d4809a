"""The socket of a waiting room.

The page sends anything to ask where it stands, and receives `services.Standing` as data.
"""

from __future__ import annotations

from typing import Any

from gathering import services
from gathering.announce import channel_of
from gathering.models import Attendance
from matches.consumers import GONE, PageConsumer, in_thread


class SessionConsumer(PageConsumer):
    """The connection of one waiting room."""

    group = ""

    async def connect(self) -> None:
        self.token = self.scope["url_route"]["kwargs"]["token"]
        attendance = await in_thread(_attendance, self.token)
        await self.accept()
        if attendance is None:
            await self.close(GONE)
            return
        self.group = channel_of(attendance.session_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self._tell()

    async def disconnect(self, code: int) -> None:
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self._tell()

    async def session_changed(self, event: dict[str, Any]) -> None:
        """Handle the start, or places that became free (sent by `announce`); presence is noted only when pages ask."""
        await self._tell(asked=False)

    async def _tell(self, *, asked: bool = True) -> None:
        data = await in_thread(answer_request, self.token, asked=asked)
        if data is None:
            await self.close(GONE)
        else:
            await self._send(data)


def answer_request(token: str, *, asked: bool = True) -> dict[str, object] | None:
    """Return where somebody is; None if there is no such page. If the page has `asked`, it counts as presence."""
    attendance = _attendance(token)
    if attendance is None:
        return None
    if asked:
        services.mark_present(attendance)
    return services.standing(attendance).as_data()


def _attendance(token: str) -> Attendance | None:
    return Attendance.objects.filter(token=token).first()
