"""Parse a page as a simulated participant reads it: the number of words, and the fields of its form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

_UNREAD = frozenset({"script", "style", "noscript", "template", "details"})
"""Elements whose text is not read because they are hidden or collapsed."""
_CHOICES = ("radio", "checkbox")
_NUMERIC_MODES = ("decimal", "numeric")
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
    """The parts of a page that matter to a simulated participant.

    Attributes:
        words: number of words in the main part.
        fields: by name, the fields of the form that leads to the next page.
        reasons: why the page refused the last answers.
    """

    heading: str = ""
    words: int = 0
    fields: dict[str, FormField] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    @property
    def visible_fields(self) -> list[FormField]:
        """The fields that the participant sees and fills in."""
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
    """A parser for pages whose main part has one form, which posts back to the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.words = self.heading = ""
        self.reasons: list[str] = []
        self._open_tags: list[str] = []
        self._unread_depth = 0
        self._select: FormField | None = None
        self._in_error = self._has_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in _UNREAD:
            self._unread_depth += 1
        if tag in ("main", "h1", "form") and "data-talk" not in attributes:  # the chat leads to no page
            self._open_tags.append(tag)
        if "error" in attributes.get("class", "").split():
            self._in_error = True
            self.reasons.append("")
        if "main" in self._open_tags and "form" in self._open_tags and attributes.get("name"):
            self._add_field(tag, attributes)
        elif tag == "option" and self._select and attributes.get("value") and "disabled" not in attributes:
            self._select.options.append(attributes["value"])

    def _add_field(self, tag: str, attributes: dict[str, str]) -> None:
        name = attributes["name"]
        limits: dict[str, str] = {
            key: attributes[key] for key in ("min", "max", "step", "maxlength", "required") if key in attributes
        }
        if tag == "input":
            kind = "number" if attributes.get("inputmode") in _NUMERIC_MODES else attributes.get("type", "text")
            if kind in ("submit", "button"):
                return
            field = self.page.fields.setdefault(name, FormField(name, kind, limits=limits))
            if kind in _CHOICES:
                field.options.append(attributes.get("value", "on"))
            else:
                field.value = attributes.get("value", "")
        elif tag == "textarea":
            self.page.fields[name] = FormField(name, "textarea", limits=limits)
        elif tag == "select":
            self._select = self.page.fields[name] = FormField(name, "select", limits=limits)
        elif tag == "button" and "value" in attributes:
            field = self.page.fields.setdefault(name, FormField(name, "radio"))
            if field.kind == "radio":  # a button with the same name as a field is a shortcut
                field.options.append(attributes["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD and self._unread_depth:
            self._unread_depth -= 1
        self._has_heading = self._has_heading or tag == "h1"
        if tag in self._open_tags:
            while self._open_tags and self._open_tags.pop() != tag:
                pass
        if tag == "select":
            self._select = None
        if tag in ("p", "li", "div", "span"):
            self._in_error = False

    def handle_data(self, data: str) -> None:
        if self._unread_depth or "main" not in self._open_tags:
            return
        self.words += f" {data}"
        if "h1" in self._open_tags and not self._has_heading:
            self.heading += data
        if self._in_error:
            self.reasons[-1] += data
