"""What operators do with an installation. Only the standard library: it runs before Parley's packages are installed."""
