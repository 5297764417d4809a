"""A key in tests; it must turn up nowhere."""

SECRET = "zk-Very.Secret/0123456789+abc="
