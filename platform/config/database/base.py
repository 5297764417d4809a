"""Django's PostgreSQL with fewer questions and answers: whether a connection still works, and within a transaction."""

from __future__ import annotations

import select
from contextlib import AbstractContextManager, suppress
from typing import Any

from django.db import Error
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is asked before use whether it still works only if the server has sent something unasked.

    A server that stops or fails ends its connections, which can be seen here without a statement.
    """

    health_check_done: bool
    _pipeline: AbstractContextManager[Any] | None = None

    def send_together(self) -> None:
        """Until this transaction ends, wait for the answers of statements only when they are read.

        BEGIN is sent with the first statement, COMMIT with the last ones. An error of a statement whose answer nobody
        reads is raised by the commit, and no savepoint can catch one: call `wait_for_answers` before code that tries.
        COPY cannot be sent like this. Inside another transaction, nothing changes.
        """
        self.ensure_connection()
        if self._pipeline is None and not self.savepoint_ids:
            pipeline = self.connection.pipeline()
            pipeline.__enter__()
            self._pipeline = pipeline

    def wait_for_answers(self) -> None:
        """End `send_together`, and raise the error of a statement sent since, if any."""
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            with self.wrap_database_errors:
                pipeline.__exit__(None, None, None)

    def _commit(self) -> None:
        if self._pipeline is not None:
            with self.wrap_database_errors:
                self.connection.execute("COMMIT", prepare=False)
            self.wait_for_answers()
        super()._commit()  # type: ignore[misc]  # does nothing after a commit

    def _rollback(self) -> None:
        with suppress(Error):  # it has been raised, or does not matter any more
            self.wait_for_answers()
        super()._rollback()  # type: ignore[misc]

    def _close(self) -> None:
        self._pipeline = None
        super()._close()  # type: ignore[misc]

    def close_if_health_check_failed(self) -> None:
        if not self.health_check_done and self.connection is not None:
            self.health_check_done = not self.connection.closed and not _has_news(self.connection.fileno())
        super().close_if_health_check_failed()


def _has_news(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
