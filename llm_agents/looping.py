"""A turn played by calling tools: one conversation in which a model looks up data, takes notes and submits.

The published form of EconEvals (appendices A to C): every call must use a tool; several tool calls in one answer
are answered in order; the last call offers only submitting; a turn without a submission starts
again, with its notes kept. The submission ends the conversation, and nothing else carries over.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from games.errors import Refused
from games.interface import Form, Json, Move, MoveData, Role, Said, Tool
from games.play import Play, check, plain_move, use_tool
from games.words import gettext as _
from games.words import gettext_noop, quoted
from llm_agents import parsing
from llm_agents.errors import BadAnswer, NoSubmission, NoTools
from llm_agents.parsing.fitting import fit
from llm_agents.prompting import GOES_ON, fenced, json_schema, render, worded_fields
from llm_agents.providers.base import ChatMessage, Completion, OfferedTool, Request, ToolCall
from llm_agents.strategies.asking import Asking
from llm_agents.talking import after_chat
from llm_agents.turn import AgentTurn, Asked, fault_of

OPENING = gettext_noop(
    "It is your turn. This conversation lasts until you submit; then it is wiped. Put what you want to know later into "
    "what you submit or, if there is a tool for it, into your notes.\n\n"
    "Look at whatever you like, and then submit by calling {submit}."
)
BY_CALLS = gettext_noop("Each of your answers must call at least one tool; several calls are answered in order.")
IN_JSON = gettext_noop(
    "Call tools by answering with exactly one JSON object, one call at a time: "
    '{"tool": "name of the tool", "arguments": {…}}. Its result comes as the next message.\n\nThe tools:'
)
NO_CALL = gettext_noop("Nothing was done: an answer must call a tool, and yours called none. The tools are {names}.")
LAST_CALL = gettext_noop("This is the last call of this conversation: only submitting is possible now.")
GO_ON = "Go on calling tools."
NOTE_KEPT = gettext_noop("Saved.")
IGNORED = gettext_noop("Ignored: an earlier call has submitted and ended the turn.")


@dataclass(frozen=True)
class Offer:
    """A tool as it is offered now: a lookup of data, or a form."""

    name: str
    help: str
    parameters: Mapping[str, Any]
    source: Tool | Form

    @property
    def submits(self) -> bool:
        return isinstance(self.source, Form) and self.source.ends_turn

    @property
    def as_tool(self) -> OfferedTool:
        return OfferedTool(self.name, self.help, self.parameters)


@dataclass
class CallResults:
    """The results of the tool calls in one answer."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    move: MoveData | None = None
    text: str = ""

    @property
    def purpose(self) -> str:
        kinds = {tool["kind"] for tool in self.tools}
        return next((kind for kind in ("move", "note", "look") if kind in kinds), "move")


def offers(asking: Asking) -> list[Offer]:
    """Return the tools of this turn: lookups, then notes, then submissions."""
    play, role = asking.play, asking.role
    lookups = [
        Offer(tool.name, tool.help, _parameters(tool.arguments, {}), tool) for tool in play.game.tools(play.state, role)
    ]
    forms = [
        Offer(form.tool or form.name, _help(form), _parameters(form.model, form.tool_keys), form)
        for form in asking.forms(play.forms(role))
    ]
    return [*lookups, *sorted(forms, key=lambda offer: offer.submits)]


def first_request(asked: Asked) -> Request:
    """Return the first request of the turn's conversation."""
    return _Conversation(asked, plain=asked.agent.settings.plain_tools).request()


async def play_turn(asked: Asked) -> tuple[MoveData, int, str]:
    """Carry out the agent's lookups and notes; return its submission, the number of calls, and its last text.

    Raises:
        NoSubmission: no conversation ended with one.
        AgentError: a call failed or was not allowed.
    """
    settings = asked.agent.settings
    calls, plain = 0, settings.plain_tools
    for _attempt in range(settings.restarts + 1):
        conversation = _Conversation(asked, plain=plain)
        while conversation.calls < settings.calls:
            try:
                results = await conversation.next_call()
            except NoTools:
                if plain:
                    raise
                plain = True
                break
            calls += 1
            if results.move is not None:
                return results.move, calls, results.text
    raise NoSubmission("no submission", asked.turn.calls)


class _Conversation:
    """One conversation of a turn; `calls` counts the model's answers."""

    def __init__(self, asked: Asked, *, plain: bool):
        self._asked, self._asking, self._plain = asked, asked.asking(), plain
        self._offers = self._offered = offers(self._asking)
        self._name = uuid.uuid4().hex
        opening: list[ChatMessage] = [
            {"role": "system", "content": self._asking.system()},
            {"role": "user", "content": self._opening()},
        ]
        self._messages = after_chat(opening, asked.turn.chat)
        self._unrecorded: list[ChatMessage] = list(self._messages)
        self.calls = 0

    @property
    def _published(self) -> bool:
        return self._asking.play.game.told_as_published

    async def next_call(self) -> CallResults:
        """Call the model once and answer its tool calls.

        Raises:
            AgentError: the call failed.
        """
        request, self._offered = self.request(), self._offered_next()
        offered = [offer.name for offer in self._offered]
        self.calls += 1
        answer = await self._asked.call(
            request, self.calls, messages=self._unrecorded, conversation=self._name, offered=offered
        )
        self._unrecorded = []
        results = await self._answer(answer.completion)
        problem = results.problems[0] if results.problems else None
        fault = next((tool["fault"] for tool in results.tools if tool["fault"]), "unreadable") if problem else None
        answer.record(problem, fault, tools=results.tools, purpose=results.purpose)
        await self._asked.turn.store_calls()
        return results

    def request(self) -> Request:
        """Return the next request. Its answer is streamed where others are, but never shown."""
        agent, offered = self._asked.agent, self._offered_next()
        request = Request(
            agent.name,
            list(self._messages),
            agent.parameters,
            on_text=(lambda _piece: None) if self._asked.turn.on_text else None,
        )
        if not self._plain:
            return replace(request, tools=[offer.as_tool for offer in offered])
        return replace(request, schema=_call_schema(offered) if agent.settings.structured else None)

    def _offered_next(self) -> list[Offer]:
        is_last_call = self.calls >= self._asked.agent.settings.calls - 1
        return [offer for offer in self._offers if offer.submits] if is_last_call else self._offers

    def _opening(self) -> str:
        asking, play = self._asking, self._asking.play
        submit = _(" or ").join(offer.name for offer in self._offers if offer.submits)
        custom = asking.strategy.opening
        opening = custom(play.game, play.state, asking.role) if custom else _(OPENING).format(submit=submit)
        view = render(play.game.before_lookups(play.state, asking.role))
        instructions = _tools_in_json(self._offers) if self._plain else "" if self._published else _(BY_CALLS)
        return "\n\n".join(part for part in (view, opening, instructions) if part)

    async def _answer(self, completion: Completion) -> CallResults:
        """Answer the tool calls in order and add them to the conversation."""
        results, calls = CallResults(text=completion.text), completion.calls
        if self._plain:
            calls = self._calls_in_text(completion.text, results)
        for call in calls:
            await self._call_tool(call, results)
        text = completion.text.strip()
        if self._plain or not calls:
            self._append({"role": "assistant", "content": text or "(no answer)"}, recorded=True)
        else:
            self._append({"role": "assistant", "content": text, "calls": list(calls)}, recorded=True)
        if not calls and not results.problems:
            results.problems.append(self._no_call())
        for call, tool in zip(calls, results.tools, strict=True):
            if self._plain:
                self._append(
                    {"role": "user", "content": f"{_('Result of {tool}:').format(tool=call.name)} {tool['result']}"},
                    recorded=True,
                )
            else:
                self._append({"role": "tool", "content": tool["result"], "answers": call.id}, recorded=True)
        if not calls:
            self._append({"role": "user", "content": results.problems[0]})
        if self._published:
            self._append({"role": "user", "content": GO_ON})
        elif self.calls == self._asked.agent.settings.calls - 1:
            self._append({"role": "user", "content": _(LAST_CALL)})
        return results

    def _no_call(self) -> str:
        return _(NO_CALL).format(names=", ".join(offer.name for offer in self._offered))

    def _append(self, message: ChatMessage, *, recorded: bool = False) -> None:
        """Add a message to the conversation; if it is `recorded` with this call, the next call's record omits it."""
        self._messages.append(message)
        if not recorded:
            self._unrecorded.append(message)

    def _calls_in_text(self, text: str, results: CallResults) -> tuple[ToolCall, ...]:
        try:
            call = parsing.last_object(text)
            if isinstance(call.get("call"), dict):
                call = call["call"]
            name, arguments = call.get("tool"), call.get("arguments", {})
            if not isinstance(name, str):
                raise BadAnswer('There is no "tool" in your JSON object.')
        except BadAnswer as error:
            results.problems.append(
                f"{error} {_(NO_CALL).format(names=', '.join(offer.name for offer in self._offered))}"
            )
            return ()
        return (ToolCall(f"call_{self.calls}", name, json.dumps(arguments, ensure_ascii=False)),)

    async def _call_tool(self, call: ToolCall, results: CallResults) -> None:
        """Answer one tool call."""
        turn = self._asked.turn
        offer = next((offer for offer in self._offered if offer.name == call.name), None)
        kind, fault = ("move" if offer is None or offer.submits else "note"), None
        if offer is not None and isinstance(offer.source, Tool):
            kind = "look"
        try:
            if results.move is not None:
                result, fault = _(IGNORED), "ignored"
            elif offer is None:
                kind, fault = "look", "unknown"
                names = ", ".join(tool.name for tool in self._offered)
                result = _("There is no tool {name} now; there are {names}.").format(
                    name=quoted(call.name), names=names
                )
            elif isinstance(offer.source, Tool):
                told = turn.play.informed(self._asked.agent.settings.information)
                result = as_text(use_tool(told, turn.role, offer.name, arguments_of(call, offer)))
            else:
                result = await self._fill_in(turn, offer.source, arguments_of(call, offer), results)
        except (BadAnswer, Refused) as error:
            result, fault = _("Refused. {reason}").format(reason=error), fault_of(error)
        if fault not in (None, "ignored"):
            results.problems.append(result)
        results.tools.append(
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": result,
                "size": len(result),
                "fault": fault,
                "kind": kind,
            }
        )

    async def _fill_in(self, turn: AgentTurn, form: Form, arguments: MoveData, results: CallResults) -> str:
        move = plain_move(checked_move(turn.play, turn.role, form, arguments))
        if form.ends_turn:
            results.move = move
            return _("Submitted.")
        await turn.make_note(move)
        return _(NOTE_KEPT)


# ---- between tools and text --------------------------------------------------------------------


def arguments_of(call: ToolCall, offer: Offer) -> dict[str, Json]:
    """Return the arguments of a call, fitted to what its tool takes, under the game's own names.

    Raises:
        BadAnswer: they are not a JSON object, or not what the tool takes.
    """
    text = call.arguments.strip()
    try:
        raw_arguments = parsing.last_object(text) if text not in ("", "null", "{}") else {}
    except BadAnswer as error:
        raise BadAnswer(str(error).replace("your answer", "the arguments")) from None
    form, keys = offer.source, {}
    if isinstance(form, Form):
        keys = dict(form.tool_keys)
        model = form.model
    else:
        model = form.arguments
    arguments = {keys.get(key, key): value for key, value in raw_arguments.items()}
    if unknown := next((key for key in arguments if key not in model.model_fields), None):
        known_names = ", ".join(f'"{name}"' for name in offer.parameters["properties"]) or "none"
        raise BadAnswer(f"There is no argument {quoted(unknown)}; {offer.name} takes {known_names}.")
    return fit(arguments, model)


def checked_move(play: Play, role: Role, form: Form, arguments: MoveData) -> Move:
    """Return the legal move of a form filled in with a tool's arguments.

    Raises:
        BadAnswer, Refused
    """
    fitting_form, move = check(play, role, arguments)
    if fitting_form.name != form.name:
        raise BadAnswer(f"These arguments do not fit {form.tool or form.name}.")
    return move


def as_text(answer: Json) -> str:
    """Return a lookup's result as a model reads it: JSON, with other players' words between their marks."""
    return json.dumps(answer, ensure_ascii=False, default=_fenced)


def _fenced(value: object) -> str:
    if isinstance(value, Said):
        return fenced(value)
    raise TypeError(f"a tool's answer is not plain data: {type(value).__name__}")


def _help(form: Form) -> str:
    parts = [_(form.title), _(form.help), "" if form.ends_turn else _(GOES_ON)]
    return " ".join(part if part[-1:] in ".!?" else f"{part}." for part in parts if part)


def _parameters(model: type[Move], keys: Mapping[str, str]) -> dict[str, Any]:
    schema = json_schema(model)
    tool_keys = {field: key for key, field in keys.items()}
    return {
        "type": "object",
        "properties": {
            tool_keys.get(name, name): field_schema for name, field_schema in schema.get("properties", {}).items()
        },
        "required": [tool_keys.get(name, name) for name in schema.get("required", ())],
        "additionalProperties": False,
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }


def _tools_in_json(offered: Sequence[Offer]) -> str:
    """Return the list of tools, and how to call them, for a model without native tools."""
    described = [f'{_("Tool")} "{offer.name}": {offer.help} {worded_fields(offer.parameters)}' for offer in offered]
    return "\n\n".join([_(IN_JSON), *described])


def _call_schema(offered: Sequence[Offer]) -> dict[str, Any]:
    """Return the strict schema of one call in plain JSON."""
    return parsing.object_of(
        {
            "call": {
                "anyOf": [
                    parsing.object_of(
                        {
                            "tool": {"type": "string", "enum": [offer.name]},
                            "arguments": parsing.strict(offer.parameters),
                        }
                    )
                    for offer in offered
                ]
            }
        }
    )
