"""Error reports to Sentry, if the installation configures a project; never people's data."""

from __future__ import annotations

from typing import Any

from config.logs import without_secrets


def report_to(dsn: str) -> None:
    """Report errors from now on: tracebacks without variables, addresses without tokens, no bodies, no headers."""
    import sentry_sdk

    sentry_sdk.init(
        dsn=dsn,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=_scrubbed,
    )


def _scrubbed(event: Any, _hint: Any) -> Any:
    """Return the event without people's data."""
    for key in ("user", "extra", "modules"):
        event.pop(key, None)
    if "request" in event:
        event["request"] = {"method": event["request"].get("method")}
    for key in ("transaction", "message"):
        if isinstance(event.get(key), str):
            event[key] = without_secrets(event[key])
    if "logentry" in event:
        event["logentry"] = {"message": without_secrets(str(event["logentry"].get("message", "")))}
    for error in event.get("exception", {}).get("values", []):
        # An error message may quote what a participant wrote.
        error["value"] = ""
    return event
