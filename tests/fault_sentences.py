"""Every sentence that participants may read in a fault test, and when it is true.

The rules are those that people are promised, and are written apart from the code that they judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from tests.fault_record import LAG, NOTICE, PRESENCE, Moment, Truth, asked, conduct, own_moves, prize, won

Rule = Callable[[Moment], bool]
RULES: list[tuple[re.Pattern[str], Rule]] = []
TIME = r"(\d+:\d\d)"


def rule(*patterns: str) -> Callable[[Rule], Rule]:
    """Decorator: this function says whether a sentence that matches one of the patterns is true."""

    def add(function: Rule) -> Rule:
        RULES.extend((re.compile(pattern), function) for pattern in patterns)
        return function

    return add


def _seconds(clock: str) -> int:
    minutes, seconds = clock.split(":")
    return 60 * int(minutes) + int(seconds)


# ---- the game's own words ----------------------------------------------------------------------------


@rule(
    r"Send|Continue|Read the rules again|Your number|Choose your number|The number must be from 0 to 100\.",
    r"(Run|Players|Highest number|Fraction of mean|Prize) .*",
    r"\d+ more players?|Everybody's numbers|Run \d+|(Runs you won|You won, on average|The result).*|\d+ of \d+",
    r"[\d.]+ points?|\$[\d.]+|“Your number” .*|Runs so far|this ends the game|How the game works|Start the game",
    r"Waiting for other players|Your bonus|Now|So far|This answer can no longer be changed\.",
)
def _says_nothing_of_now(m: Moment) -> bool:
    return True


@rule(r"Choose a number from 0 to 100\.")
def _asks(m: Moment) -> bool:
    return m.in_match(asked)


@rule(r"(One run is|\d+ runs are) over\.")
def _counts_rounds(m: Moment) -> bool:
    number = 1 if m.groups[0].startswith("One") else int(m.groups[0].split()[0])
    return m.in_match(lambda match, role: len(match["rounds"]) == number)


@rule(r"Run (\d+):|The target was [\d.]+\.|.* (?:was|were|are) .*closest\.|.*equally close.*")
def _tells_a_round(m: Moment) -> bool:
    return m.in_match(lambda match, role: len(match["rounds"]) >= int(m.groups[0] or 1))


@rule(r"You chose ([\d.]+) and won \$[\d.]+\.")
def _tells_own_number(m: Moment) -> bool:
    number = float(m.groups[0])
    return m.in_match(lambda match, role: bool(match["rounds"]) and match["rounds"][-1][role] == number)


@rule(r"You did not choose a valid number\.")
def _tells_no_number(m: Moment) -> bool:
    return m.in_match(lambda match, role: bool(match["rounds"]) and match["rounds"][-1][role] is None)


@rule(r"If you win nothing(?: more)?: (none|\$[\d.]+)", r"For this game: (none|\$[\d.]+)")
def _bonus(m: Moment) -> bool:
    shown = Decimal(m.groups[0].lstrip("$").replace("none", "0"))
    share = m.record.terms.rate / m.record.terms.rounds
    return m.in_match(lambda match, role: abs(won(match, role) * share - shown) <= Decimal("0.01"))


@rule(r"The game is over\.", r"Who won what(?:, on average)?")
def _over(m: Moment) -> bool:
    return m.in_match(lambda match, role: match["status"] == "finished")


@rule(r"The game was stopped early\.", r"The next page explains what this means for you\.")
def _stopped(m: Moment) -> bool:
    return m.in_match(lambda match, role: match["status"] == "abandoned")


@rule(r"You have answered\.", r"Change my answer", r"Your answer was changed\.")
def _has_answered(m: Moment) -> bool:
    if m.round_changes():
        return True
    return m.ever(lambda truth: not truth["ended"] and not truth["left"]) and m.in_match(
        lambda match, role: not match["over"] and role not in match["waiting"]
    )


@rule(r"Waiting for (.+)\.(?: This page updates automatically\.)?", r"This page updates automatically\.()")
def _waits_for(m: Moment) -> bool:
    matches = [truth["match"] for truth in m.known if truth["match"]]
    waiting = [{match["titles"][role] for role in match["waiting"]} for match in matches]
    if not m.groups[0] or not any(waiting) or m.round_changes():
        return any(waiting)
    return set.intersection(*waiting) <= set(re.split(r", | and ", m.groups[0])) <= set.union(*waiting)


NOTE = r"((?: now played by a program| is away|))"


@rule(rf"(Player \d)(?: \(you\))?{NOTE}")
def _seat(m: Moment) -> bool:
    """Return whether this seat is played as its note says, or was so a moment ago."""
    notes = {" now played by a program": {"agent"}, " is away": {"gone", "missed"}}.get(m.groups[1], set())
    return not notes or m.in_match(
        lambda match, role: any(
            match["titles"][one] == m.groups[0] and notes & set(absence) for one, absence in match["absences"].items()
        )
    )


@rule(rf"(Player \d)(?: \(you\))? has answered{NOTE}")
def _other_has_answered(m: Moment) -> bool:
    return _seat(m) and (
        m.round_changes()
        or m.in_match(lambda match, role: m.groups[0] not in [match["titles"][one] for one in match["waiting"]])
    )


@rule(rf"(Player \d)(?: \(you\))? is deciding{NOTE}")
def _other_decides(m: Moment) -> bool:
    return _seat(m) and (
        m.round_changes()
        or m.in_match(lambda match, role: m.groups[0] in [match["titles"][one] for one in match["waiting"]])
    )


@rule(r"Please wait\.", r"The answer will appear here\.", r"Player \d is (?:thinking|writing).*")
def _agent_isasked(m: Moment) -> bool:
    return m.in_match(lambda match, role: bool(match["waiting"]))


@rule(r"Sending …")
def _sends(m: Moment) -> bool:
    """Only while it is sent: not while the page has been cut off for long, nor long after the answer has arrived."""
    cut = m.record.cut_at(m.seen.who, m.seen.at)
    return m.in_match(asked) and (cut is None or not cut[0] + NOTICE < m.seen.at < cut[1] - LAG)


def _cut_for(m: Moment, seconds: float) -> bool:
    since = m.record.cut_off_since(m.seen.who, m.seen.at)
    return since is not None and m.seen.at - since > seconds


# ---- who plays --------------------------------------------------------------------------------------------


def _played_by_programs(match: Truth) -> set[str]:
    """Return the titles of people's seats in which a program plays."""
    return {match["titles"][role] for role, absence in match["absences"].items() if "agent" in absence}


@rule(r"(.+) (?:is a person|are people); (.+) (?:is a|are) computer programs?\.")
def _who_is_who(m: Moment) -> bool:
    people, programs = (set(re.split(r", | and ", names)) for names in m.groups)
    scripts = {f"Player {number}" for number in range(m.record.terms.people + 1, m.record.terms.seats + 1)}
    return m.in_match(lambda match, role: programs - scripts == _played_by_programs(match) and not people & scripts)


@rule(r"You play with (\d+|one|another) (?:other )?(?:people|person) and (\d+|a) computer programs?\.")
def _how_many(m: Moment) -> bool:
    people, programs = (int({"a": "1", "one": "1", "another": "1"}.get(number, number)) for number in m.groups)
    total = people + programs == m.record.terms.seats - 1
    scripts = m.record.terms.seats - m.record.terms.people

    def fits(match: Truth, role: str) -> bool:
        return programs == scripts + len(_played_by_programs(match) - {match["titles"][role]})

    return total and (m.round_changes() or m.in_match(fits))


@rule(r"An answer takes at most (\d+) minutes?; after that, the game goes on without it or ends\.")
def _at_most(m: Moment) -> bool:
    terms = m.record.terms
    return 60 * int(m.groups[0]) >= terms.turn + terms.extension + terms.absence


@rule(r"(?:The programs?|(?:One|\d+) of these programs) plays? for (?:a person|people) who stopped playing\.")
def _some_stopped(m: Moment) -> bool:
    return m.in_match(lambda match, role: bool(_played_by_programs(match)))


@rule(r"(Player .+) plays? for (?:a person|people) who stopped playing\.")
def _stopped_playing(m: Moment) -> bool:
    return m.in_match(lambda match, role: set(re.split(r", | and ", m.groups[0])) == _played_by_programs(match))


@rule(
    r"Are you there\?", r"You did not answer in time, so a program is answering for you until .*",
    r"I'm back", r"A program is answering this question for you\.",
)  # fmt: skip
def _is_replaced_for_now(m: Moment) -> bool:
    return m.in_match(lambda match, role: "agent" in match["absences"].get(role, {}))


@rule(r"You were away\.", r"You play again from your next turn\.")
def _was_not_there(m: Moment) -> bool:
    return bool(m.record.doing[m.seen.who].away) or conduct(m.record, m.seen.who) == "late"


@rule(r"It is your turn again\.")
def _is_asked_again(m: Moment) -> bool:
    return m.in_match(asked)


@rule(r"A program made (\d+) moves? for you\.")
def _moves_made(m: Moment) -> bool:
    return m.in_match(
        lambda match, role: sum(one == role and bool(by) for one, by, *_ in match["moves"]) >= int(m.groups[0])
    )


@rule(r"you had played half or more")
def _half_or_more(m: Moment) -> bool:
    return 2 * len(own_moves(m.record.last(m.seen.who).truth)) >= m.record.terms.rounds


# ---- connections and clocks ----------------------------------------------------------------------------


@rule(r"You are offline\.", r"You are offline, so this has not been sent\.")
def _offline(m: Moment) -> bool:
    return m.is_offline()


@rule(r"Your time is still running\.")
def _time_runs(m: Moment) -> bool:
    return m.clock_runs()


@rule(r"Your answers will be sent when you reconnect\.", r"We will send it when you reconnect\.")
def _will_be_sent(m: Moment) -> bool:
    return m.is_offline() and _nothing_is_lost(m)


@rule(r"Connection lost\.", r"We can't reach our server\.", r"Our server is slow to answer\.")
def _connection_lost(m: Moment) -> bool:
    return m.cut_off() or m.server_unreachable()


@rule(r"We are reconnecting; your place is kept\.")
def _reconnects(m: Moment) -> bool:
    return _connection_lost(m) and _place_is_kept(m)


@rule(r"Our server is unavailable\.", r"This time does not count: .*", r"Your time is not running\.")
def _server_is_down(m: Moment) -> bool:
    return m.server_unreachable()


@rule(
    r"If our server is down, your time is not running\.", r"If your connection is lost, it is running\.",
    r"What you type is kept\.", r"Your answer is kept and will be sent automatically\.",
    r"This page will update automatically\.",
)  # fmt: skip
def _is_cut_off(m: Moment) -> bool:
    return m.cut_off() or m.server_unreachable()


@rule(r"Reconnecting …")
def _reconnects_now(m: Moment) -> bool:
    """For a moment, on a page that has just loaded, or while there is a reason."""
    looks = [seen for seen in m.record.of(m.seen.who) if m.seen.at - NOTICE <= seen.at < m.seen.at]
    return _is_cut_off(m) or len(looks) < 2 or not all("Reconnecting …" in seen.view["lines"] for seen in looks)


@rule(r"This takes longer than usual\.", r"Your answer is kept\.")
def _is_slow(m: Moment) -> bool:
    return m.in_match(asked)


@rule(r"Live updates are interrupted\.", r"The page works, but a little slower\.")
def _works_without_socket(m: Moment) -> bool:
    cut = m.record.cut_at(m.seen.who, m.seen.at)
    return m.server_unreachable() and (cut is None or not cut[0] + NOTICE < m.seen.at < cut[1] - LAG)


@rule(rf"If it runs out, the game waits for you up to {TIME} longer\.")
def _patience(m: Moment) -> bool:
    """The budget, less what the person has been away so far; a rounded number may be less."""
    away = m.record.away_seconds(m.seen.who, 0.0, m.seen.at)
    return m.is_offline() and _seconds(m.groups[0]) <= m.record.terms.absence - max(0.0, away - _time_left(m)) + LAG


def _time_left(m: Moment) -> float:
    """Return the most seconds that the person's open turn may still have had when they went away."""
    deadlines = [
        truth["match"]["turns"][truth["role"]]["deadline"]
        for truth in m.known
        if truth["match"] and asked(truth["match"], truth["role"])
    ]
    cut = m.record.cut_off_since(m.seen.who, m.seen.at)
    return max(deadlines, default=0.0) - (cut or m.seen.at)


@rule(rf"(Player \d|One of the others|\d others) ha(?:s|ve) lost the connection\. The game waits for up to {TIME}\.")
def _others_are_away(m: Moment) -> bool:
    """Return whether this player, or so many, are away or were just now, and have no more time left than is shown."""
    away = {
        who
        for who, doing in m.record.doing.items()
        if who != m.seen.who and any(a <= m.seen.at <= b + 2 * LAG for a, b in doing.away)
    }
    truths = [m.record.last(who).truth for who in away]
    titles = {truth["match"]["titles"][truth["role"]] for truth in truths if truth["match"]}
    number = {"One of the others": 1}.get(m.groups[0]) or int(m.groups[0].split()[0].replace("Player", "1"))
    is_true = m.groups[0] in titles or (len(away) >= number and not m.groups[0].startswith("Player"))
    return is_true and _seconds(m.groups[1]) <= m.record.terms.absence + LAG


@rule(r"The page still works, a little slower, and nothing you do is lost\.")
def _still_works(m: Moment) -> bool:
    return not _cut_for(m, 0) and _nothing_is_lost(m)


@rule(r"We can't reach our database right now\.", r"One moment, please", r"Try again now")
def _database_is_down(m: Moment) -> bool:
    return "database" in m.record.down(m.seen.at, NOTICE)


@rule(r"This page will retry automatically\.", r"Nothing you did is lost\.", r"If you just sent something, .*")
def _nothing_is_lost(m: Moment) -> bool:
    """Return whether every answer pressed so far is in the log in the end, made by its own person."""
    final = m.record.last(m.seen.who).truth
    if final["match"] is None:
        return True
    rounds_pressed = {
        round_number for at, round_number, _number in m.record.doing[m.seen.who].pressed if at <= m.seen.at
    }
    return rounds_pressed <= set(range(1, 1 + len(own_moves(final))))


def clock_is_true(m: Moment) -> bool:
    """The clock of an answer: the limit less the time in which the person could be served."""
    label, shown = m.seen.view["clock"][0], _seconds(m.seen.view["clock"][1])
    return m.in_match(lambda match, role: asked(match, role) and _fits(m, match["turns"][role], label, shown))


def _fits(m: Moment, turn: Truth, label: str, shown: int) -> bool:
    if label.startswith(("Stopped", "Time left when")):
        cut = m.record.cut_off_since(m.seen.who, m.seen.at) or min(m.record.outages[0][1], m.seen.at)
        # The last contact may have been seconds before the server went down, or while it was starting.
        contacts = (cut, cut - LAG, cut - NOTICE, m.seen.at, m.seen.at - LAG)
        return m.server_unreachable() and any(_fits_at(m, turn, contact, shown) for contact in contacts)
    if label.startswith("Extra") != turn["extended"]:
        return False
    return _fits_at(m, turn, m.seen.at, shown)


def _fits_at(m: Moment, turn: Truth, at: float, shown: int) -> bool:
    opened, terms = turn["opened"], m.record.terms
    limit = terms.turn + (terms.extension if turn["extended"] else 0)
    fair = opened + limit - at + m.record.lost_seconds(opened, at)
    with_redis = fair + m.record.lost_seconds(opened, at, ("redis", "worker"))
    possible = [(fair, with_redis)]
    if not m.record.lost_seconds(opened, at):
        possible.append((turn["deadline"] - at, turn["deadline"] - at))
    after_start = m.record.slack_of_start(opened, at)
    return any(max(0.0, low - after_start) - m.lag <= shown <= max(0.0, high) + m.lag for low, high in possible)


# ---- the lobby -------------------------------------------------------------------------------------------


@rule(
    r"You will play with other people\.", r"The game starts automatically as soon as everyone is here\.",
    r"Who is here", r"We are putting together your group", r"This page tells you as soon as it is complete\.",
    r"While you wait", r"You can use other windows; .*", r"You then have \d+ seconds to press a button\.",
    r"Please keep this page open: .*", r"(Play a sound|A sound will play|Show a notification|A notification will) .*",
    r"Your browser does not allow notifications", r"After that, .*", r"If there are too few, .*", r"Play .*",
    r"If your group is not complete by then, .*", r"By then, either the game starts, or .*",
    r"(Player \d|Another player|Free seat)(?: you| is here| not here yet)", r"You", r"Another player",
    r"Free seat", r"One moment …",
)  # fmt: skip
def _lobby(m: Moment) -> bool:
    return m.ever(_waits)


def _waits(truth: Truth) -> bool:
    """Return whether the person waits for others, or did between two looks at the database."""
    return truth["step"] in ("lobby", "instructions")


@rule(r"Your group is starting!", r"Everyone is ready\.")
def _starts(m: Moment) -> bool:
    return m.ever(lambda truth: truth["match"] is not None)


@rule(r"(One more player is|\d+ more players are) needed\.", r"(Everyone is here)\.")
def _missing(m: Moment) -> bool:
    if m.ever(lambda truth: truth["match"] is not None or (truth["place"] or {}).get("asked")):
        return m.ever(_waits)  # the group forms
    first = m.groups[0].split()[0]
    number = int({"One": "1", "Everyone": "0"}.get(first, first))
    may_wait = _waiting(m, min(m.heard, m.seen.at - PRESENCE), any)
    surely_wait = _waiting(m, m.heard, all)
    return m.record.terms.people - may_wait <= number <= m.record.terms.people - surely_wait


def _waiting(m: Moment, start: float, quantifier: Callable[[Iterator[bool]], bool]) -> int:
    """Return how many people wait since `start`, at some moment or (if present then) at all moments."""
    return sum(
        quantifier(
            seen.truth["step"] == "lobby" and (quantifier is any or m.record.cut_at(who, seen.at) is None)
            for seen in m.record.of(who)
            if start <= seen.at <= m.seen.at + 1
        )
        for who in m.record.doing
    )


def _is_left(m: Moment, shown: int, start: str, end: str) -> bool:
    """Return whether a time of the lobby is what is left, without the time in which nobody could be served."""

    def fits(truth: Truth) -> bool:
        place = truth["place"]
        if place is None or place[start] is None:
            return False
        left = max(0.0, place[end] - m.seen.at)
        fair = place[end] - m.seen.at + m.record.lost_seconds(place[start], m.seen.at)
        with_redis = fair + m.record.lost_seconds(place[start], m.seen.at, ("redis", "worker"))
        after_start = m.record.slack_of_start(place[start], m.seen.at)
        return max(left, fair - after_start) - m.lag <= shown <= max(0.0, with_redis) + m.lag

    return m.ever(fits)


@rule(rf"(?:You will wait at most|The wait ends within) {TIME}\.", r"You will wait at most \d+ minutes?\.()")
def _wait_limit(m: Moment) -> bool:
    return not m.groups[0] or _is_left(m, _seconds(m.groups[0]), "since", "until")


@rule(r"Ready\?", r"Your group is complete\.", r"I'm ready", r"If we don't hear from you in time, .*")
def _is_asked_if_ready(m: Moment) -> bool:
    return m.ever(lambda truth: bool(truth["place"] and truth["place"]["group"]))


@rule(r"You are (Player \d)\.?")
def _has_number(m: Moment) -> bool:
    """A number, once said, is the number in the game."""
    return all(
        seen.truth["match"]["titles"][seen.truth["role"]] == m.groups[0] for seen in m.later() if seen.truth["match"]
    )


@rule(rf"Time left: {TIME}\.", rf"Time left for the others: {TIME}\.")
def _ready_limit(m: Moment) -> bool:
    return _is_left(m, _seconds(m.groups[0]), "made", "ready_until")


@rule(r"You are ready\.", r"If someone is not ready by then, .*", r"We know that you are ready\.")
def _is_ready(m: Moment) -> bool:
    return m.ever(lambda truth: bool(truth["place"] and truth["place"]["ready"]))


@rule(
    r"(One other player is|\d+ other players are) not ready yet\.",
    r"(?:The game|Your group) starts as soon as everyone is\.()",
)
def _not_ready(m: Moment) -> bool:
    first = m.groups[0].split()[0] if m.groups[0] else "1"
    counts = [(truth["place"] or {}).get("not_ready") or 0 for truth in m.known]
    return min(counts) <= int({"One": "1"}.get(first, first)) <= max(counts)


@rule(r"Your group was complete, but (we did not hear|not everyone was ready).*")
def _setback(m: Moment) -> bool:
    return m.ever(lambda truth: bool(truth["place"] and truth["place"]["setback"]))


@rule(r"You are now at the end of the queue\.", r"If this happens again, .*", r"We are looking for another player, .*")
def _queues(m: Moment) -> bool:
    return m.ever(_waits)


@rule(rf"Your place is kept.*?{TIME}.*", rf"Your place in the queue is kept for {TIME}\.", r"Your place is kept.*()")
def _place_is_kept(m: Moment) -> bool:
    """False if a group forms without this person before they are back, within the time that the page says."""
    end = m.seen.at + _seconds(m.groups[0]) if m.groups and ":" in m.groups[0] else float("inf")
    for seen in m.later():
        if seen.at > end:
            break
        place = seen.truth["place"]
        if place is not None and place["group"] is None and place["groups"] > 0:
            return False
        if not (seen.offline or m.record.down(seen.at)):
            break
    return True


@rule(rf"Your group waits for you for {TIME}\.")
def _group_waits(m: Moment) -> bool:
    return _is_left(m, _seconds(m.groups[0]), "made", "ready_until")


@rule(
    r"Other people may now get a group before you\.", r"As soon as this page is connected, .*",
    r"The time to get ready may be over\.", r"Your group may start before this page is connected\.",
    r"Your answer is sent as soon as this page is connected\.",
)  # fmt: skip
def _may_have_changed(m: Moment) -> bool:
    return m.cut_off() or m.server_unreachable()


# ---- the last page ---------------------------------------------------------------------------------------


def _in_state(*states: str) -> Rule:
    return lambda m: m.ever(lambda truth: truth["state"] in states)


rule(r"All done\. Thank you!", r"All done\.", r"Thank you!")(_in_state("completed"))
rule(r"You have left the study", r"You chose to stop\.", r"What you did will not be part of the research data\.")(
    lambda m: m.record.doing[m.seen.who].left is not None
)
rule(
    r"What to do now", r"Copy the code.*", r"You can then close this page\.", r"To see it again, open the same link\.",
    r"Show or send the code below to the people who invited you.*", r"Please return the assignment .*",
    r"You don't need to do anything else\.", r"Your pay", r"For (taking part|waiting).*", r"(Bonus|Total).*",
    r"What this study is about", r"The researchers will pay you themselves\.", r"They have not said when\.",
    r"Questions about your pay\?", r"Ask the people who invited you, or use “Report a problem” below\.",
    r"We read every report\.",
)(lambda m: m.ever(lambda truth: truth["ended"]))  # fmt: skip


@rule(r"You played the whole game\.")
def _played_all(m: Moment) -> bool:
    return m.in_match(lambda match, role: match["status"] == "finished")


@rule(r"Your time ran out", r"You did not answer your turn (?:within the time limit and the extra time|in time), .*")
def _ran_out(m: Moment) -> bool:
    return conduct(m.record, m.seen.who) == "late"


@rule(r"You were away for too long", r"You were inactive for longer than this study allows, .*")
def _was_away(m: Moment) -> bool:
    return conduct(m.record, m.seen.who) == "absent"


@rule(r"Another player left", r"Someone in your group stopped playing, .*", r"This is not your fault\.")
def _another_left(m: Moment) -> bool:
    return any(conduct(m.record, who) != "did their part" for who in m.record.doing if who != m.seen.who)


@rule(r"Our server was unavailable", r"The study could not continue because our server was unavailable\.")
def _our_outage(m: Moment) -> bool:
    return bool(m.record.outages)


@rule(
    r"The game could not continue", r"Another player stopped answering for technical reasons\.", r"This is our fault.*"
)
def _technical(m: Moment) -> bool:
    return bool(m.record.outages)


@rule(r"A program is now playing for you", r"A program took your seat", r"You did not answer .*")
@rule(r"A computer program took your seat .*", r"You can't rejoin the game\.")
def _replaced(m: Moment) -> bool:
    return m.ever(lambda truth: truth["state"] == "replaced") and conduct(m.record, m.seen.who) != "did their part"


@rule(r"Not enough players", r"Not enough people joined in time.*", r"You did everything right\.", r"We pay you .*")
def _no_group(m: Moment) -> bool:
    return m.ever(lambda truth: truth["state"] == "no_partner")


@rule(r"you earned ([\d.]+) points? in the game, times \$4\.00")
def _earned(m: Moment) -> bool:
    return abs(Decimal(m.groups[0]) - prize(m.record, m.seen.who)) < Decimal("0.01")


rule(r"the average bonus, since the game stopped through no fault of yours")(
    _in_state("partner_left", "opponent_failed", "our_outage")
)


@rule(r"you had played less than half")
def _less_than_half(m: Moment) -> bool:
    return 2 * len(own_moves(m.record.last(m.seen.who).truth)) < m.record.terms.rounds


rule(r"this ending pays no bonus", r"no game was finished")(
    lambda m: m.ever(lambda truth: truth["ended"] and "bonus" not in truth["ledger"])
)


@rule(r"Recorded\.")
def _recorded(m: Moment) -> bool:
    return m.ever(lambda truth: bool(truth["ledger"]))


@rule(r"There is no payment in this case\.", r"If you think this is wrong, .*")
def _no_pay(m: Moment) -> bool:
    return m.ever(lambda truth: not truth["ledger"])


@rule(r"([A-Z2-9]{10})(?: Copy the code)?")
def _code(m: Moment) -> bool:
    return m.ever(lambda truth: truth["code"] == m.groups[0])


# ---- judging


def sentences(line: str) -> list[str]:
    """Split a line of a page into its sentences."""
    return re.split(r"(?<=[.!?…])\s+(?=[A-Z“\d])", line)


def judged(moment: Moment, sentence: str) -> bool | None:
    """Return whether a sentence on a page is true; None if no rule covers it."""
    for pattern, is_true in RULES:
        if match := pattern.fullmatch(sentence):
            moment.groups = tuple(group or "" for group in match.groups())
            return is_true(moment)
    return None
