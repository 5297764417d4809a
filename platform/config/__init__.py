"""Project wiring: settings, URLs, ASGI and Celery. The only package that knows every app."""
