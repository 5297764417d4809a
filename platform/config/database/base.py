from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is asked before use whether it still works only if the server has sent something unasked.

    A server that stops or fails ends its connections, which can be seen here without a statement.
    """

    def close_if_health_check_failed(self) -> None:
        if self.connection is not None and not self.connection.closed and not _has_news(self.connection.fileno()):
            self.health_check_done = True
        super().close_if_health_check_failed()


def _has_news(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
