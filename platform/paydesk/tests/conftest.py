from payouts.tests.conftest import in_order, twin  # noqa: F401
