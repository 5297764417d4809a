"""Read a page as a simulated participant does: how much there is to read, and what its form asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style", "noscript", "template", "details"})
"""Elements that are not read: hidden or collapsed."""
_CHOSEN = ("radio", "checkbox")
_OF_NUMBERS = ("decimal", "numeric")
"""`inputmode` values of text fields that take numbers."""


@dataclass
class FormField:
    """One field of a form.

    Attributes:
        kind: "text", "textarea", "number", "radio", "checkbox", "select", "hidden", or another input type.
        options: the values that can be chosen.
        value: the prefilled value.
    """

    name: str
    kind: str
    value: str = ""
    options: list[str] = field(default_factory=list)
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Page:
    """What a page contains and asks, as far as a participant needs it.

    Attributes:
        words: number of words in its main part.
        fields: by name, of the form that moves the participant on.
        reasons: why it refused the last answer.
    """

    heading: str = ""
    words: int = 0
    fields: dict[str, FormField] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    @property
    def asked(self) -> list[FormField]:
        """The fields that the participant has to fill in."""
        return [field for field in self.fields.values() if field.kind != "hidden"]


def read(html: str) -> Page:
    """Return the parsed page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    page = reader.page
    page.heading, page.words = " ".join(reader.heading.split()), len(reader.words.split())
    page.reasons = [" ".join(reason.split()) for reason in reader.reasons if reason.strip()]
    return page


class _Reader(HTMLParser):
    """Parses the markup; a page has one form in its main part that posts back to it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.words = self.heading = ""
        self.reasons: list[str] = []
        self._in: list[str] = []
        self._silent = 0
        self._select: FormField | None = None
        self._error = self._headed = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag in _SILENT:
            self._silent += 1
        if tag in ("main", "h1", "form"):
            self._in.append(tag)
        if "error" in said.get("class", "").split():
            self._error = True
            self.reasons.append("")
        if "main" in self._in and "form" in self._in and said.get("name"):
            self._ask(tag, said)
        elif tag == "option" and self._select is not None:
            self._offer(said)

    def _ask(self, tag: str, said: dict[str, str]) -> None:
        name = said["name"]
        limits = {key: said[key] for key in ("min", "max", "step", "maxlength", "required") if key in said}
        if tag == "input":
            kind = "number" if said.get("inputmode") in _OF_NUMBERS else said.get("type", "text")
            if kind in ("submit", "button"):
                return
            field = self.page.fields.setdefault(name, FormField(name, kind, limits=limits))
            if kind in _CHOSEN:
                field.options.append(said.get("value", "on"))
            else:
                field.value = said.get("value", "")
        elif tag == "textarea":
            self.page.fields[name] = FormField(name, "textarea", limits=limits)
        elif tag == "select":
            self._select = self.page.fields[name] = FormField(name, "select", limits=limits)
        elif tag == "button" and "value" in said:
            field = self.page.fields.setdefault(name, FormField(name, "radio"))
            if field.kind == "radio":  # a button with the same name as a field is a shortcut
                field.options.append(said["value"])

    def _offer(self, said: dict[str, str]) -> None:
        assert self._select is not None
        if said.get("value") and "disabled" not in said:
            self._select.options.append(said["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self._silent:
            self._silent -= 1
        self._headed = self._headed or tag == "h1"
        if tag in self._in:
            while self._in and self._in.pop() != tag:
                pass
        if tag == "select":
            self._select = None
        if tag in ("p", "li", "div", "span"):
            self._error = False

    def handle_data(self, data: str) -> None:
        if self._silent or "main" not in self._in:
            return
        self.words += f" {data}"
        if "h1" in self._in and not self._headed:
            self.heading += data
        if self._error:
            self.reasons[-1] += data
