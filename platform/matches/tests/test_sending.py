"""A move over a page's socket: what it costs the database, what it records of the page, and what the page is given."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches import announce, presence
from matches.consumers import _heard_and_moved
from matches.models import Event, Match, Seat
from matches.sending import QUIET_AFTER, Sender
from matches.tests.test_consumer import new_match
from participants.models import Enrolment

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

OFFER = {"answering": "1", "alice_gain": "9990", "bob_gain": "10"}
LONG_AGO = timedelta(seconds=3)


def seat_heard(ago: timedelta) -> Seat:
    """Return the seat of a participant at their first turn whose page was last heard from so long ago."""
    person, match = new_match()
    Enrolment.objects.filter(pk=person.pk).update(last_seen_at=timezone.now() - ago)
    return Seat.objects.select_related("match").get(match=match, role="alice")


def silence(seat: Seat) -> timedelta:
    return timezone.now() - Enrolment.objects.get(pk=seat.enrolment_id).last_seen_at


def send(seat: Seat, waited: timedelta = timedelta(), **fields: str):
    """Return the outcome of a move that arrived so long ago, and the page's next frame."""
    sender = Sender(seat, at=timezone.now() - waited)
    return _heard_and_moved(sender, {**OFFER, **fields}, shown_at=timezone.now()), sender.frame


def test_move_and_presence_cost_few_statements_and_no_message(monkeypatch, scripts_at_once):
    send(seat_heard(LONG_AGO))  # fills the process's caches
    seat, sent = seat_heard(LONG_AGO), []
    monkeypatch.setattr(announce, "_send", lambda _match, message: sent.append(message))
    with CaptureQueriesContext(connection) as queries:
        outcome, frame = send(seat)
    assert (outcome["type"], frame["last"], frame["answering"]) == ("taken", 4, 4)
    assert sent == [] and silence(seat) < LONG_AGO
    # Beside the transaction's own: the lock; the events, the match, the person; heartbeats now and then.
    statements = [query["sql"] for query in queries if "uptime_" not in query["sql"]]
    most = 2 if connection.vendor == "postgresql" else 4
    assert len([sql for sql in statements if not sql.startswith(("BEGIN", "COMMIT"))]) == most, statements


def test_refused_move_is_heard():
    seat = seat_heard(LONG_AGO)
    outcome, frame = send(seat, bob_gain="1")
    assert (outcome["type"], frame) == ("refused", None)
    assert silence(seat) < LONG_AGO


def test_move_after_a_lost_connection_first_ends_the_absence():
    seat = seat_heard(QUIET_AFTER + LONG_AGO)
    outcome, _frame = send(seat)
    assert outcome["type"] == "taken" and silence(seat) < LONG_AGO
    assert Event.objects.filter(match=seat.match_id, kind="move", role="alice").count() == 1


def test_move_that_waited_for_our_server_ends_no_absence(scripts_at_once):
    seat = seat_heard(QUIET_AFTER + LONG_AGO)
    outcome, frame = send(seat, waited=2 * LONG_AGO)
    assert (outcome["type"], frame["last"]) == ("taken", 4) and silence(seat) < LONG_AGO


def test_seat_that_was_left_makes_no_move():
    seat = seat_heard(LONG_AGO)
    Seat.objects.filter(pk=seat.pk).update(left_at=timezone.now())
    assert send(seat) == (None, None)
    assert not Event.objects.filter(match=seat.match_id, kind="move").exists()


def test_move_whose_event_exists_changes_nothing_and_the_next_one_is_made():
    seat = seat_heard(LONG_AGO)
    earlier = Event.objects.create(match=seat.match, number=2, kind="move", role="alice", data={}, at=timezone.now())
    with pytest.raises(IntegrityError):
        send(seat)
    assert Match.objects.get(pk=seat.match_id).play().last == 1 and silence(seat) > LONG_AGO
    earlier.delete()
    assert send(seat)[0]["type"] == "taken"


@pytest.mark.parametrize(("ago", "counts"), [(LONG_AGO, True), (2 * QUIET_AFTER, False)])
def test_who_waits_stays_there_but_an_absence_ends_only_with_what_waits(ago, counts):
    seat = seat_heard(ago)
    presence.hear_all({}, {seat.pk: timezone.now()})
    assert (silence(seat) < LONG_AGO) is counts
    assert Event.objects.filter(match=seat.match).count() == 1


def test_pages_are_heard_together_and_only_in_seats_that_are_theirs():
    here, back, gone = (seat_heard(ago) for ago in (LONG_AGO, 2 * QUIET_AFTER, LONG_AGO))
    Seat.objects.filter(pk=gone.pk).update(left_at=timezone.now())
    found = presence.hear_all({seat.pk: timezone.now() for seat in (here, back, gone)}, {})
    assert found.keys() == {here.pk, back.pk}
    assert silence(here) < LONG_AGO and silence(back) < LONG_AGO < silence(gone)
    assert not found[here.pk].has_news_after(1) and found[here.pk].has_news_after(0)
