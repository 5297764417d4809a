"""Actions of admin pages on what belongs to a study: rows of tables, from which `studies.admin.acts` makes the pages.

Workers load the tables too, but no admin pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise

from audit.actions import Action
from rights.roles import Role

Text = str | Promise


@dataclass(frozen=True)
class Given:
    """What an action is given: the object, the form's values, and the request.

    `record` writes the action to the audit log, for actions that do so themselves.
    """

    target: Any
    request: HttpRequest
    values: Mapping[str, Any]
    record: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Act:
    """One action.

    Attributes:
        title: what it does, as the heading of its page and in the audit log.
        does: does it; may return a message instead of `done`, or how many of many objects it changed. Raises
            MarketplaceError, NotPossible.
        done: the message afterwards, which may contain the form's values in braces.
        explains: the consequences, for its page, as one text or several; None if its button acts at once.
        button: the text of its last button: on its page, or of the one that acts at once; default: the title.
        icon, note, asks: of its button on the object's page: the icon, what stands beside it, and what the browser
            asks before it acts at once.
        offered: whether that button is shown, if nothing hinders the action.
        log: its entry in the audit log, written after it succeeded; None: no entry.
        log_first: write the entry before the request, because the request's outcome may remain unknown.
        log_itself: `does` calls `Given.record`, once nothing prevents the action.
        details: of the entry.
        form, initial: what the researcher enters.
        role: the role in the study that it requires.
        spends: it also requires the editor's role in the account.
        hindrance: why it is not possible now, as far as is known here; "" if it is.
        page: the page that asks, instead of the common one.
    """

    title: Text
    does: Callable[[Given], str | int | None]
    done: Text = ""
    explains: Text | Sequence[Text] | Callable[[Any], str] | None = None
    button: Text = ""
    icon: str = ""
    note: Text = ""
    asks: Text = ""
    offered: Callable[[Any], bool] = lambda target: True
    log: Action | None = None
    log_first: bool = False
    log_itself: bool = False
    details: Callable[[Given], dict[str, Any]] = lambda given: {}
    form: type[forms.Form] | None = None
    initial: Callable[[], dict[str, Any]] = dict
    role: Role = Role.EDITOR
    spends: bool = True
    harmful: bool = False
    hindrance: Callable[[Any], str] = lambda target: ""
    page: Callable[[Any, HttpRequest, Any], HttpResponse] | None = None
