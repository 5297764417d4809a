"""A test key, which must not appear anywhere."""

SECRET = "zk-Very.Secret/0123456789+abc="
