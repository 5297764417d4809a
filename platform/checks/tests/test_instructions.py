"""The instructions as a step of a participant's path."""

from __future__ import annotations

import pytest
from django.test import Client

from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State


@pytest.mark.parametrize(("later", "called"), [("lobby", "a player"), ("quiz", "Player 2")])
def test_seat_is_not_named_while_a_lobby_may_change_it(db, later: str, called: str) -> None:
    game = {"game": "beauty_contest", "config": {"players": 4}, "role": "p2"}
    steps = [{"kind": "instructions", **game}, {"kind": later, **game}]
    person = Enrolment.objects.create(steps=steps, expires_at=expiry_after(60), state=State.CONSENTED)
    page = Client().get(person.get_absolute_url()).content.decode()
    assert f"You are <strong>{called}</strong>, one of 4 players." in page
