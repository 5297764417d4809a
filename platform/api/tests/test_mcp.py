"""An assistant over the Model Context Protocol: a member's rights, nothing written without --write, no other reply."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from django.contrib.auth.models import User

from api.mcp import INVALID_PARAMS, NO_METHOD, PARSE_ERROR, Session
from config.supervisor import ROOT
from exports import background
from exports.tests import building
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests import kit


@pytest.fixture
def study(db) -> Study:
    kit.new_study("hidden", title="Hidden")
    return kit.new_study("seen", title="Seen")


def member(study: Study, role: Role) -> User:
    user = User.objects.create_user(f"the-{role}", is_staff=True)
    give(study, user=user, role=role, by=None)
    return user


def request(session: Session, method: str, /, **parameters: Any) -> dict[str, Any]:
    reply = session.reply(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters}))
    assert reply is not None and reply["id"] == 7
    return reply


def call(session: Session, tool: str, /, **arguments: Any) -> Any:
    """Return a tool's result as data, or the reason why it refused."""
    result = request(session, "tools/call", name=tool, arguments=arguments)["result"]
    text = result["content"][0]["text"]
    return text if result["isError"] else json.loads(text)


def test_a_viewer_sees_only_own_studies(study):
    session = Session(member(study, Role.VIEWER))
    assert [each["name"] for each in call(session, "list_studies")["studies"]] == ["seen"]
    assert call(session, "plan", name="seen")["plan"]["title"] == "Seen"
    assert call(session, "monitor", name="seen")["matches"] == {"live": 0, "finished": 0, "abandoned": 0}
    assert call(session, "check_plan", plan=study.draft)["faults"] == []
    for tool in ("plan", "monitor", "datasets", "table"):
        assert call(session, tool, name="hidden") == call(session, tool, name="nothing")
    assert "role" in call(session, "datasets", name="seen")


def test_nothing_is_written_unless_asked_for(study):
    editor = member(study, Role.EDITOR)
    names = [tool["name"] for tool in request(Session(editor), "tools/list")["result"]["tools"]]
    assert "save_plan" not in names and "table" in names
    changed = {**study.draft, "title": "Changed"}
    assert call(Session(editor), "plan", study="x") == "name: Field required\nstudy: Extra inputs are not permitted"
    refused = request(Session(editor), "tools/call", name="save_plan", arguments={})
    assert refused["error"]["code"] == INVALID_PARAMS
    writing = Session(editor, writing=True)
    assert call(writing, "save_plan", name="seen", edit=study.edit, plan=changed)["edit"] == study.edit + 1
    assert "since" in call(writing, "save_plan", name="seen", edit=study.edit, plan=study.draft)
    study.refresh_from_db()
    assert study.title == "Changed" and study.latest_version() is None


def test_access_ends_with_the_users(study):
    user = member(study, Role.VIEWER)
    session = Session(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert "no longer has access" in call(session, "list_studies")


@pytest.mark.django_db(transaction=True)
def test_a_table_is_shown_with_its_columns():
    study = building.new_study(slug="played")
    building.complete(study, worker="W", messages=["hello"])
    requested, _new = background.request_dataset(study, ["csv"])
    background.write(requested.pk)
    session = Session(member(study, Role.EDITOR))
    assert "matches" in call(session, "table", name="played")["tables"]
    shown = call(session, "table", name="played", table="matches", rows=1)
    assert len(shown["rows"]) == 1
    assert list(shown["rows"][0]) == [column["column"] for column in shown["columns"]]


@pytest.mark.parametrize(
    ("line", "code"),
    [("{", PARSE_ERROR), ('{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', NO_METHOD)],
)
def test_what_is_no_request_is_told_so(line, code):
    reply = Session(User()).reply(line)
    assert reply is not None and reply["error"]["code"] == code


@pytest.mark.slow
def test_a_process_speaks_nothing_but_the_protocol(tmp_path):
    environment = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "SECRET_KEY": "tests", "PATH": ""}

    def manage(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        environment_with_password = {**environment, "DJANGO_SUPERUSER_PASSWORD": "a-long-password-1"}
        return subprocess.run(
            command, env=environment_with_password, check=True, capture_output=True, text=True, timeout=120, **options
        )

    manage("migrate")
    manage("createsuperuser", "--username", "ada", "--email", "ada@example.org", "--noinput")
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_studies"}},
    ]
    spoken = manage("mcp", "--user", "ada", input="\n".join(map(json.dumps, messages)) + "\n").stdout
    replies = [json.loads(line) for line in spoken.splitlines()]
    assert [reply["id"] for reply in replies] == [0, 1, 2]
    assert replies[0]["result"]["protocolVersion"] == "2025-03-26"
    assert json.loads(replies[2]["result"]["content"][0]["text"]) == {"studies": [], "collections": []}
