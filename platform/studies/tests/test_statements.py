"""How many statements a participant's way to the game costs the database, those of transactions not counted."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplaces import framing
from tests.actions import launch_endless

POSITION = re.compile(r'name="position" value="(\d+)"')
CODE_WORD = re.compile(r"remember the word <strong>([a-z]+)</strong>")
TRANSACTION = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


def statements_of_a_walk() -> list[tuple[str, list[str]]]:
    """Return the statements of every request from the link to the game's first page."""
    client, costs = Client(), []

    def ask(method: str, path: str, data: dict[str, str] | None = None):
        with CaptureQueriesContext(connection) as queries:
            page = client.generic(method, path) if data is None else client.post(path, data)
        costs.append((method, [query["sql"] for query in queries if not query["sql"].startswith(TRANSACTION)]))
        return page

    page = ask("POST", "/join/walk/", {"role": "alice"})
    path = page.headers["Location"]
    for answer in ({"agree": "yes"}, {"name": "Worker"}, {}):
        html = ask("GET", path).content.decode()
        if match := CODE_WORD.search(html):
            answer = {**answer, "code_word": match[1]}
        ask("POST", path, {"position": POSITION.search(html)[1], **answer})
    assert 'id="screen"' in ask("GET", path).content.decode()
    return costs


@pytest.mark.django_db(transaction=True)
def test_way_to_the_game_costs_few_statements():
    launch_endless("walk")
    framing.forget()  # an earlier test may have had a rehearsal
    # The first one fills the process's caches; on a slow machine, some run out during another.
    walks = [statements_of_a_walk() for _walk in range(4)]
    costs = [min(requests, key=lambda request: len(request[1])) for requests in zip(*walks, strict=True)]
    shown = "\n".join(f"{method}\n  " + "\n  ".join(each[:120] for each in statements) for method, statements in costs)
    assert [len(statements) for method, statements in costs if method == "GET"][:3] == [1, 1, 1], shown
    assert all(len(statements) <= 4 for _method, statements in costs[1:]), shown
    assert sum(len(statements) for _method, statements in costs) <= 24, shown
