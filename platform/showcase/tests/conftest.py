from __future__ import annotations

import pytest


@pytest.fixture
def demo(settings, tmp_path, db) -> None:
    """Make this a demo on one computer, with its studies and its administrator."""
    settings.DATA_DIR = tmp_path
    from showcase.demo import create_demo  # apps are not loaded yet when this file is

    settings.DEMO = True
    settings.DEMO_SHARED_URL = ""
    create_demo()


@pytest.fixture
def shared(settings, demo) -> str:
    """Let the demo be shared with other devices; return its address for them."""
    settings.DEMO_SHARED_URL = "http://192.168.1.20:8000"
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "192.168.1.20"]
    return settings.DEMO_SHARED_URL
