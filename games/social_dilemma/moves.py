"""The moves of each turn, as models built for a particular base game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, create_model

from games.interface import Form, Move
from games.words import cached_by_language, gettext_noop
from games.words import gettext as _

DELEGATE = "delegate"
Percentage = Annotated[int, Field(ge=0, le=100)]


class Act(Move):
    """A single action."""

    action: str


class Mix(Move):
    """Whole percentages, one per action, that add up to 100."""

    percentages: Any

    def shares(self) -> dict[str, int]:
        """Return the percentage of each action."""
        return dict(self.percentages.model_dump())


class ProposeMediator(Move):
    """A mediator: for every number of delegators, the action that it plays for all of them."""

    mediator: Any

    def design(self) -> dict[str, str | int]:
        return dict(self.mediator.model_dump())


class ProposeContract(Move):
    """A contract: for each action, the whole number of points that playing it earns from the others."""

    contract: Any

    def design(self) -> dict[str, str | int]:
        return dict(self.contract.model_dump())


class Approve(Move):
    """A yes or no vote on every proposal."""

    approve: Any

    def votes(self) -> tuple[int, ...]:
        """Return the numbers of the approved proposals."""
        return tuple(int(name[1:]) for name, yes in self.approve.model_dump().items() if yes)


class Sign(Move):
    """Whether the player signs the chosen contract."""

    sign: bool = Field(title=gettext_noop("Do you sign?"))


def _model(name: str, base: type[Move], **fields: Any) -> type[Move]:
    model: type[Move] = create_model(name, __base__=base, **fields)
    return model


def _named(title: str, actions: tuple[str, ...], labels: tuple[str, ...]) -> Any:
    """Return the field for a choice of actions; its description explains renamed actions."""
    renamed = [f"{name}: {label}" for name, label in zip(actions, labels, strict=True) if name != label]
    return Field(title=title, description="; ".join(renamed) if labels != actions else None)


@cached_by_language
def acting(actions: tuple[str, ...], answer_with: str, labels: tuple[str, ...]) -> tuple[Form, ...]:
    """Return the forms for choosing an action, percentages, or either."""
    certain_form = Form(
        "act",
        _("Choose your action"),
        _model("ActNow", Act, action=(Literal[actions], _named(_("Your action"), actions, labels))),
    )
    shares = _model(
        "Percentages",
        Move,
        **{
            name: (Percentage, Field(title=_("Chance of {action}, in percent").format(action=label)))
            for name, label in zip(actions, labels, strict=True)
        },
    )
    mixed_form = Form(
        "mix",
        _("Choose at random"),
        _model("MixNow", Mix, percentages=(shares, Field(title=_("Percentages")))),
        help=_("Give every action a whole percentage. They must add up to 100; one action is then drawn at random."),
    )
    return {"action": (certain_form,), "percentages": (mixed_form,), "either": (certain_form, mixed_form)}[answer_with]


@cached_by_language
def proposing_mediator(actions: tuple[str, ...], seats: int, labels: tuple[str, ...]) -> tuple[Form, ...]:
    """Return the form for proposing a mediator."""
    rules = _model(
        "Mediator",
        Move,
        **{
            str(number): (
                Literal[actions],
                _named(
                    _("If {number} of {seats} delegate, it plays").format(number=number, seats=seats), actions, labels
                ),
            )
            for number in range(1, seats + 1)
        },
    )
    model = _model("ProposeMediatorNow", ProposeMediator, mediator=(rules, Field(title=_("Your mediator"))))
    words = _("A mediator plays for all who delegate to it. Choose its action for each number of delegators.")
    return (Form("propose", _("Propose a mediator"), model, help=words),)


@cached_by_language
def proposing_contract(actions: tuple[str, ...], bound: int | None, labels: tuple[str, ...]) -> tuple[Form, ...]:
    """Return the form for proposing a contract; without a bound, it names none."""
    limits: Any = int if bound is None else Annotated[int, Field(ge=-bound, le=bound)]
    payments = _model(
        "Contract",
        Move,
        **{
            name: (limits, Field(title=_("Points that playing {action} earns from the others").format(action=label)))
            for name, label in zip(actions, labels, strict=True)
        },
    )
    model = _model("ProposeContractNow", ProposeContract, contract=(payments, Field(title=_("Your contract"))))
    words = _(
        "A contract pays for actions. Positive number: the others pay it to each player of the action. Negative "
        "number: each player of the action pays it to the others."
    )
    if bound is not None:
        words += " " + _("Whole numbers from -{bound} to {bound}.").format(bound=bound)
    return (Form("propose", _("Propose a contract"), model, help=words),)


@cached_by_language
def approving(letter: str, seats: int) -> tuple[Form, ...]:
    """Return the form for voting on all proposals."""
    votes = _model(
        "Votes",
        Move,
        **{
            f"{letter}{number}": (StrictBool, Field(title=_("{name}").format(name=f"{letter}{number}")))
            for number in range(1, seats + 1)
        },
    )
    model = _model("ApproveNow", Approve, approve=(votes, Field(title=_("Proposals you approve"))))
    words = _("Approve as many as you like. The proposal with the most approvals is chosen; ties are broken at random.")
    return (Form("approve", _("Approve proposals"), model, help=words),)


SIGNING = (
    Form(
        "sign",
        gettext_noop("Sign the contract"),
        Sign,
        help=gettext_noop("It takes effect only if everybody signs. If anybody refuses, there are no payments."),
    ),
)


def certain(shares: Mapping[str, int]) -> str | None:
    """Return the action with 100 percent; None if the action is drawn at random."""
    return next((name for name, share in shares.items() if share == 100), None)
