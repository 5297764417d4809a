"""Fixtures of the end-to-end tests: a complete live stack and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from config.postgres import PrivatePostgres
from config.supervisor import Stack
from conftest import DATABASES, KIND

CHROMIUM_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 15_000
"""Milliseconds that a browser waits for an element to appear."""
expect.set_options(timeout=PATIENCE)
LOG_TAIL = 2000
"""How many characters of each service's log are shown when a test fails."""


class LiveStack(Stack):
    """A running stack with the most frequent actions of tests/actions.py as methods.

    Attributes:
        postgres: its database server; None with SQLite.
    """

    postgres: PrivatePostgres | None = None

    launch_study = partialmethod(Stack.call, "tests.actions.launch_study")
    lab_code = partialmethod(Stack.call, "tests.actions.lab_code")
    moves = partialmethod(Stack.call, "tests.actions.moves")
    completion_code = partialmethod(Stack.call, "tests.actions.completion_code")
    arrive = partialmethod(Stack.call, "tests.actions.arrive")
    reach_first_turn = partialmethod(Stack.call, "tests.actions.reach_first_turn")
    move = partialmethod(Stack.call, "tests.actions.move")
    enrol_in = partialmethod(Stack.call, "tests.actions.enrol_in")
    end_enrolment = partialmethod(Stack.call, "tests.actions.end_enrolment")

    def kill(self, name: str) -> None:
        """Send SIGKILL, as in a crash; the supervisor restarts the service."""
        process = self.services[name].process
        assert process is not None
        process.kill()

    def halt(self, name: str) -> None:
        """Stop one service and keep it down until `restart`."""
        with self._change:
            self.services[name].stop()

    def restart(self, name: str) -> None:
        """Stop one service, if it is running, and start it immediately."""
        with self._change:
            self.halt(name)
            self.services[name].start()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run browser tests on a stack with each database, or with the module's STACKS; other tests on TEST_DATABASE.

    Quick runs use SQLite for browser tests and PostgreSQL for other tests with a stack; other combinations are slow.
    """
    if "stack" in metafunc.fixturenames:
        browser_test = metafunc.definition.get_closest_marker("browser")
        kinds = getattr(metafunc.module, "STACKS", DATABASES if browser_test else (KIND,))
        quick_kind = "sqlite" if browser_test else "postgres"
        params = [pytest.param(kind, marks=[] if kind == quick_kind else [pytest.mark.slow]) for kind in kinds]
        metafunc.parametrize("stack", params, indirect=True, scope="session")


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    """Run a live stack on free ports, with its own data."""
    postgres = PrivatePostgres() if request.param == "postgres" else None
    try:
        with LiveStack(
            tmp_path_factory.mktemp(f"stack-{request.param}"),
            database_url=postgres.start() if postgres else None,
            worker_concurrency=16,
            environment={"SECRET_KEY": "tests"},
        ) as live:
            live.postgres = postgres
            yield live
    finally:
        if postgres is not None:
            postgres.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Show the logs of the stack's services when a test fails."""
    report = yield
    live = getattr(item, "funcargs", {}).get("stack")
    if report.failed and live is not None:
        report.sections += [(f"{name} log", live.log(name)[-LOG_TAIL:]) for name in live.services]
    return report


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    """Run a demo with its studies and samples."""
    environment = {"SECRET_KEY": "tests", "PARLEY_DEMO": "1"}
    with LiveStack(tmp_path_factory.mktemp("demo"), environment=environment) as stack:
        stack.call("showcase.demo.create_demo", None)
        stack.manage("samples")
        yield stack


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use Debian's Chromium, without its background activity."""
    chromium = shutil.which("chromium")
    assert chromium and Path(chromium).exists(), "missing: apt-get install chromium"
    return {**browser_type_launch_args, "executable_path": chromium, "args": CHROMIUM_ARGUMENTS}


PAGE_ERRORS: list[str] = []
"""Errors that pages' scripts did not catch during the current test."""


@pytest.fixture(scope="session")
def browser(browser: Browser) -> Browser:
    """Record every error that a page's script does not catch."""
    new_context = browser.new_context

    def recording(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.on("weberror", lambda error: PAGE_ERRORS.append(f"{error.page and error.page.url}: {error.error}"))
        return context

    browser.new_context = recording  # type: ignore[method-assign]
    return browser


@pytest.fixture(autouse=True)
def no_page_errors() -> Iterator[None]:
    """Fail a test during which a page's script stopped with an error."""
    PAGE_ERRORS.clear()
    yield
    assert PAGE_ERRORS == []


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    """Shorten the browser's default timeout of half a minute."""
    context.set_default_timeout(PATIENCE)
    return context
