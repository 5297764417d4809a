"""What seller and buyer may know, as blocks. Only this module removes hidden information.

The seller sees each product's quality; the buyer sees it only once it is revealed. A myopic buyer
sees the current product's message and statistics of earlier rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from games.glee import other
from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Said, Table, Text, View
from games.persuasion.roles import BUYER, HIGH, LOW, SELLER, Quality
from games.persuasion.state import Market, Round
from games.persuasion.state import PersuasionCore as Persuasion
from games.words import gettext as _
from games.words import percent


def view(game: Persuasion, state: Market, role: Role) -> View:
    """Return everything that `role` may know now."""
    is_myopic = not game.remembers(role)
    blocks: list[Block] = [_status(game, state, role)]
    if state.played and not is_myopic:
        blocks.append(_outcome(game, state.played[-1], len(state.played), role))
    blocks.append(_situation(game, state, role))
    if state.now is None:
        blocks.append(_result(game, state, role))
    elif role == SELLER:
        blocks.append(_product(game, state.now))
        if state.now.offered:
            blocks.append(_own_words(game, state.now))
    elif state.now.offered:
        blocks.append(_pitch(game, state.now, len(state.rounds)))
    if is_myopic:
        return (*blocks, _statistics(game, state))
    if state.played and state.now is not None:
        blocks.append(_tally(game, state, role))
    return (*blocks, _history(game, state, role))


def notices(game: Persuasion, before: Market, moves: Mapping[Role, Any], after: Market, role: Role) -> View:
    """Return what `role` has just learnt: a message, a purchase, a quality, or the next product."""
    if after.now is not None and after.now.offered:
        return (_pitch(game, after.now, len(after.rounds)),) if role == BUYER else ()
    if not game.remembers(role):
        return ()
    blocks: list[Block] = [_outcome(game, after.played[-1], len(after.played), role)]
    if after.now is None:
        blocks.append(_result(game, after, role))
    else:
        blocks.append(_situation(game, after, role))
        if role == SELLER:
            blocks.append(_product(game, after.now))
    return tuple(blocks)


def _status(game: Persuasion, state: Market, role: Role) -> Text:
    """Return one sentence on what happens now."""
    name = game.role_title(other(role))
    current = state.now
    if current is None:
        return Text("status", _("The game is over."), tone="good")
    if role == SELLER:
        if current.offered:
            return Text("status", _("{name} is deciding whether to buy.").format(name=name))
        words = (
            _("This product is of high quality. What do you tell {name}?")
            if current.quality == HIGH
            else _("This product is of low quality. What do you tell {name}?")
        )
        return Text("status", words.format(name=name))
    if current.offered:
        words = (
            _("Last round: {name} has a product for you. Do you buy it?")
            if game.is_last(state)
            else _("{name} has a product for you. Do you buy it?")
        )
        return Text("status", words.format(name=name))
    return Text("status", _("{name} is looking at the next product.").format(name=name))


def _situation(game: Persuasion, state: Market, role: Role) -> Facts:
    """Return the round, and what is at stake in every round."""
    facts = [
        game.round_fact(len(state.rounds)),
        Fact("price", _("Price"), game.config.price, game.money(game.config.price)),
        Fact("prior", _("Chance of high quality"), game.config.prior, percent(game.config.prior)),
    ]
    if role == BUYER:
        facts += [
            Fact("high_gain", _("With a high-quality product you earn"), game.gain(HIGH), game.money(game.gain(HIGH))),
            Fact("low_gain", _("With a low-quality product you lose"), game.gain(LOW), game.money(-game.gain(LOW))),
        ]
    if game.remembers(role):
        earned = game.earned(state.played, role)
        facts.append(Fact("earned", _("You have earned"), earned, game.money(earned)))
    return Facts("situation", _("Where you stand"), tuple(facts))


def _quality(quality: Quality) -> str:
    return _("high") if quality == HIGH else _("low")


def _product(game: Persuasion, current: Round) -> Facts:
    """Return this round's product as the seller sees it."""
    facts = [Fact("quality", _("Its quality"), current.quality, _quality(current.quality))]
    name = game.role_title(BUYER)
    if game.knows_values(SELLER):
        gain = game.gain(current.quality)
        label = _("{name} would earn by buying it") if gain > 0 else _("{name} would lose by buying it")
        facts.append(Fact("buyer_gain", label.format(name=name), gain, game.money(abs(gain))))
    facts.append(
        Fact(
            "your_gain",
            _("You earn if {name} buys").format(name=name),
            game.config.price,
            game.money(game.config.price),
        )
    )
    return Facts("product", _("This round's product"), tuple(facts))


def _pitch(game: Persuasion, current: Round, number: int) -> Facts:
    """Return the seller's message or recommendation as the buyer sees it."""
    name = game.role_title(SELLER)
    if current.message is not None:
        statement = Fact("message", _("{name} writes").format(name=name), Said(name, current.message), "")
    else:
        statement = Fact(
            "recommendation", _("{name} recommends").format(name=name), current.recommendation, _advice(current)
        )
    title = _("The product in round {number}").format(number=number)
    return Facts(
        "pitch", title, (statement, Fact("price", _("Price"), game.config.price, game.money(game.config.price)))
    )


def _own_words(game: Persuasion, current: Round) -> Facts:
    """Return what the seller said about the product, shown while the buyer decides."""
    if current.message is not None:
        statement = Fact("message", _("You wrote"), Said(game.role_title(SELLER), current.message), "")
    else:
        statement = Fact("recommendation", _("You recommended"), current.recommendation, _advice(current))
    return Facts("own_words", _("What you said"), (statement,))


def _advice(this_round: Round) -> str:
    return _("yes, buy it") if this_round.recommendation == "yes" else _("no, do not buy it")


def _outcome(game: Persuasion, past_round: Round, number: int, role: Role) -> Text:
    """Return how round `number` ended, for a role that remembers."""
    return Text(
        "outcome", _("Round {number}: {outcome}").format(number=number, outcome=_ending(game, past_round, role))
    )


def _ending(game: Persuasion, past_round: Round, role: Role) -> str:
    if role == SELLER:
        name = game.role_title(BUYER)
        if not past_round.bought:
            return _("{name} did not buy the product, and you earned nothing.").format(name=name)
        earned = game.money(game.config.price)
        return _("{name} bought the product, and you earned {earned}.").format(name=name, earned=earned)
    if not game.revealed(past_round):
        return _("you did not buy the product, so you do not learn its quality.")
    quality = _quality(past_round.quality)
    if not past_round.bought:
        return _("you did not buy the product. Its quality was {quality}.").format(quality=quality)
    gain = game.gain(past_round.quality)
    words = (
        _("you bought the product. Its quality was {quality}: you earned {gain}.")
        if gain > 0
        else _("you bought the product. Its quality was {quality}: you lost {gain}.")
    )
    return words.format(quality=quality, gain=game.money(abs(gain)))


def _tally(game: Persuasion, state: Market, role: Role) -> Text:
    """Return how many products were bought so far, and how many of them were of low quality."""
    sold = sum(past_round.bought for past_round in state.played)
    low = sum(past_round.bought and past_round.quality == LOW for past_round in state.played)
    words = (
        _("{name} has bought {sold} of {rounds} products, {low} of them of low quality.")
        if role == SELLER
        else _("You have bought {sold} of {rounds} products, {low} of them of low quality.")
    )
    name = game.role_title(BUYER)
    return Text("tally", words.format(name=name, sold=sold, rounds=len(state.played), low=low))


def _statistics(game: Persuasion, state: Market) -> Facts:
    """Return what a myopic buyer may know about earlier rounds: two shares."""
    played = state.played
    if not played:
        no_rounds = Fact("rounds_before", _("Rounds before this one"), 0, _("none: this is the first"))
        return Facts("statistics", _("Earlier buyers"), (no_rounds,))
    bought = sum(past_round.bought for past_round in played) / len(played)
    low = sum(past_round.bought and past_round.quality == LOW for past_round in played) / len(played)
    return Facts(
        "statistics",
        _("Earlier buyers"),
        (
            Fact("rounds_before", _("Rounds before this one"), len(played), str(len(played))),
            Fact("share_bought", _("Share in which the product was bought"), bought, percent(bought)),
            Fact("share_low_bought", _("Share in which a low-quality product was bought"), low, percent(low)),
        ),
    )


def _history(game: Persuasion, state: Market, role: Role) -> Table:
    """Return the finished rounds: what the seller said, whether the product was bought, and its quality."""
    is_seller = role == SELLER

    def row(number: int, past_round: Round) -> tuple[Cell, ...]:
        heading: Cell = (
            Said(game.role_title(SELLER), past_round.message)
            if past_round.message is not None
            else (_("yes") if past_round.recommendation == "yes" else _("no"))
        )
        bought = _("yes") if past_round.bought else _("no")
        quality = _quality(past_round.quality) if is_seller or game.revealed(past_round) else _("unknown")
        earned = game.money(game.earned((past_round,), role))
        return (number, heading, bought, quality, earned)

    is_text = game.config.message_type == "text"
    if is_seller:
        heading = _("You said") if is_text else _("Your advice")
        columns = (_("Round"), heading, _("Bought"), _("Quality"), _("You earned"))
    else:
        name = game.role_title(SELLER)
        heading = (_("{name} said") if is_text else _("{name}'s advice")).format(name=name)
        columns = (_("Round"), heading, _("You bought"), _("Quality"), _("You earned"))
    rows = tuple(row(number, past_round) for number, past_round in enumerate(state.played, start=1))
    return Table("history", _("Rounds so far"), columns, rows)


def _result(game: Persuasion, state: Market, role: Role) -> Facts:
    """Return how the game ended for this role."""
    rounds = len(state.played)
    sold = sum(past_round.bought for past_round in state.played)
    of_all = _("{sold} of {rounds}").format(sold=sold, rounds=rounds)
    facts = []
    if game.remembers(role):
        label = _("Products you sold") if role == SELLER else _("Products you bought")
        facts.append(Fact("sold", label, sold, of_all))
    if role == SELLER:
        low = sum(past_round.bought and past_round.quality == LOW for past_round in state.played)
        facts.append(Fact("sold_low", _("Of these, of low quality"), low, str(low)))
    elif game.remembers(role):
        low = sum(past_round.bought and past_round.quality == LOW for past_round in state.played)
        facts.append(Fact("bought_low", _("Of these, of low quality"), low, str(low)))
    earned = game.earned(state.played, role)
    label = _("You earned") if game.remembers(role) else _("All buyers together earned")
    facts.append(Fact("payoff", label, earned, game.money(earned)))
    return Facts("result", _("The result"), tuple(facts))


def result_bars(game: Persuasion, state: Market, role: Role) -> Bars | None:
    """Return how many products were bought, by quality; for buyers without memory, only what they all earned."""
    if role == OBSERVER:
        return None
    if not game.remembers(role):
        earned = game.earned(state.played, role)
        bar = Bar(_("All buyers together"), game.money(earned), earned, role=role)
        return Bars(_("What buyers earned"), (bar,))
    rounds = len(state.played)
    bought = [past_round.quality for past_round in state.played if past_round.bought]
    high, low = bought.count(HIGH), bought.count(LOW)
    counts: tuple[tuple[str, int, Literal["good", "bad", "rest"]], ...] = (
        (_("Bought, high quality"), high, "good"),
        (_("Bought, low quality"), low, "bad"),
        (_("Not bought"), rounds - high - low, "rest"),
    )
    bars, start = [], 0
    for label, count, tone in counts:
        bars.append(Bar(label, str(count), start + count, start, tone=tone))
        start += count
    title = _("What happened to the product") if rounds == 1 else _("What happened to {rounds} products")
    return Bars(title.format(rounds=rounds), tuple(bars), high=rounds)
