from payouts.tests.conftest import in_order, standin  # noqa: F401
