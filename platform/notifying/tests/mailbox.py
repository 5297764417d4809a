"""A small mail server that speaks SMTP on this machine, keeps what it takes and refuses some addresses."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default


class Mailbox:
    """What arrived, in order, and for which addresses the server replies with something else than 250."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.replies: dict[str, str] = {}
        self.port = 0


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Serve a mailbox on a free port."""
    box = Mailbox()

    class Session(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self) -> None:
            self.say("220 mail.test")
            while line := self.rfile.readline().decode().strip():
                verb = line[:4].upper()
                if verb == "DATA":
                    self.say("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    box.mails.append(message_from_bytes(b"".join(lines), policy=default))
                    self.say("250 taken")
                elif verb == "RCPT":
                    self.say(box.replies.get(line[8:].strip("<> "), "250 ok"))
                else:
                    self.say("221 bye" if verb == "QUIT" else "250 ok")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        box.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield box
        server.shutdown()
