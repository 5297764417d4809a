from __future__ import annotations

from pathlib import Path

import pytest

from conftest import made_once


def demo_studies(_folder: Path) -> None:
    from showcase.demo import create_demo  # apps are not loaded yet when this file is

    create_demo()


demo_made = made_once(demo_studies)


@pytest.fixture
def demo(demo_made, settings, db) -> None:
    """Make this a demo on one computer, with its studies and its administrator."""
    settings.DEMO = True
    settings.DEMO_SHARED_URL = ""


@pytest.fixture
def shared(settings, demo) -> str:
    """Let the demo be shared with other devices; return its address for them."""
    settings.DEMO_SHARED_URL = "http://192.168.1.20:8000"
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "192.168.1.20"]
    return settings.DEMO_SHARED_URL
