"""Wiring: settings, addresses, ASGI and Celery. The only place that knows every app."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
