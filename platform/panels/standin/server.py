"""The stand-in's server: its participants and links, who has returned, its payments, and the pages that show them."""

from __future__ import annotations

import csv
import hashlib
import hmac
import html
import io
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from llm_agents.standins.http import HttpRequest
from llm_agents.standins.kit import Reply, Service, page, people_page, redirect
from panels.models import names_in
from panels.presets import Preset

PEOPLE = 12
LINK_LIVES = 600


@dataclass
class Guest:
    """A participant of the panel, with the values in their links."""

    person: str
    task: str
    session: str = field(default_factory=lambda: secrets.token_hex(8))
    returns: list[str] = field(default_factory=list)
    """The panel's addresses to which they returned, oldest first."""
    paid: list[str] = field(default_factory=list)


class StandIn(Service):
    """A server on 127.0.0.1 that runs until the `with` block ends.

    Attributes:
        return_addresses: every address to which a participant returned, with its query.
    """

    def __init__(self, preset: Preset, *, study: str = "", secret: str = "", port: int = 0) -> None:
        self.preset, self.study, self.secret = preset, study, secret
        self.task = secrets.token_hex(5)
        self.guests = [Guest(f"P{number:02}{secrets.token_hex(3)}", self.task) for number in range(1, PEOPLE + 1)]
        self.return_addresses: list[str] = []
        self._by_browser: dict[str, str] = {}
        super().__init__(port=port)

    def answer(self, request: HttpRequest) -> Reply:
        if request.path == "/":
            return page(_home(self))
        if request.path == "/favicon.ico":
            return page("", 404)
        if request.path == "/go":
            person = request.fields.get("person", "")
            guest = next((guest for guest in self.guests if guest.person == person), None)
            if guest is None:
                return page("<p>Not a participant of this panel.</p>", 404)
            link, browser = self.send_participant(guest)
            return redirect(link, set_cookie=f"panel={browser}; Path=/; HttpOnly")
        address = request.path + (f"?{request.query}" if request.query else "")
        browser = request.headers.get("cookie", "").partition("panel=")[2].partition(";")[0]
        returned = self.record_return(address, browser)
        name = html.escape(returned.person) if returned else "an unknown participant"
        return page(f"<h1>Welcome back</h1><p>Noted for {name}: <code>{html.escape(address)}</code></p>")

    def link(self, guest: Guest, **replacements: str) -> str:
        """Return the study's address for one participant; `replacements` replaces some of their values."""
        values = {"person": guest.person, "task": guest.task, "session": guest.session, **replacements}
        field_names = {"person": self.preset.person, "task": self.preset.task, "session": self.preset.session}
        fields = {names_in(names)[0]: values[key] for key, names in field_names.items() if names}
        if not self.secret:
            return f"{self.study}?{urlencode(fields)}"
        query = urlencode({**fields, "expires": str(int(time.time()) + LINK_LIVES)})
        return f"{self.study}?{query}&signature={self.sign(query)}"

    def sign(self, query: str) -> str:
        return hmac.new(self.secret.encode(), query.encode(), hashlib.sha256).hexdigest()

    def record_return(self, address: str, browser: str) -> Guest | None:
        """Record a participant's return; identify them by the address or by the cookie with which they left."""
        self.return_addresses.append(address)
        values = {value for _name, value in parse_qsl(urlsplit(address).query)}
        values.add(self._by_browser.get(browser, ""))
        guest = next((guest for guest in self.guests if {guest.person, guest.session} & values), None)
        if guest is not None:
            guest.returns.append(address)
        return guest

    def send_participant(self, guest: Guest) -> tuple[str, str]:
        """Return the link that a participant follows, and the cookie by which the panel recognises them."""
        browser = secrets.token_hex(8)
        self._by_browser[browser] = guest.person
        return self.link(guest), browser

    def pay(self, uploaded: str, *, person: str, amount: str) -> str:
        """Pay every line of a list whose person the panel knows; return the panel's report with the same columns."""
        report = io.StringIO()
        writer = csv.DictWriter(report, [person, amount])
        writer.writeheader()
        for line in csv.DictReader(io.StringIO(uploaded)):
            for guest in self.guests:
                if guest.person == line[person]:
                    guest.paid.append(line[amount])
                    writer.writerow({person: guest.person, amount: line[amount]})
        return report.getvalue()


def _home(standin: StandIn) -> str:
    rows = "".join(
        f"<tr><td><a href='/go?person={guest.person}'>{guest.person}</a></td>"
        f"<td>{'<br>'.join(map(html.escape, guest.returns)) or '–'}</td></tr>"
        for guest in standin.guests
    )
    title = f"A stand-in for a panel: {standin.preset.title}"
    text = "<p>Follow a person's link to the study. Their returns are listed here.</p>"
    return people_page("a panel", title, f"{text}<table><tr><th>Person</th><th>Returned to</th></tr>{rows}</table>")
