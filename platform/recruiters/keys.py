"""Read the public keys that recruiters publish for their signatures."""

from __future__ import annotations

import json
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt.algorithms import RSAAlgorithm

LEAST_BITS = 2048


def read_key(jwk: Any) -> Any | None:
    """Return one key of a JSON Web Key Set; None if it is not an RS256 key."""
    if not isinstance(jwk, dict) or not isinstance(jwk.get("kid"), str) or jwk.get("kty") != "RSA" or "d" in jwk:
        return None
    if jwk.get("alg", "RS256") != "RS256" or jwk.get("use", "sig") != "sig":
        return None
    try:
        key = RSAAlgorithm.from_jwk(jwk)
    except (jwt.InvalidKeyError, ValueError, TypeError, KeyError):
        return None
    return key if key.key_size >= LEAST_BITS else None


def read_keys(text: str) -> list[Any]:
    """Return the RS256 keys in a PEM text or a JSON Web Key Set; other keys are ignored."""
    if text.lstrip().startswith("{"):
        try:
            key_set = json.loads(text).get("keys")
        except (ValueError, RecursionError):
            return []
        return [key for jwk in key_set if (key := read_key(jwk)) is not None] if isinstance(key_set, list) else []
    keys = []
    for block in text.split("-----END PUBLIC KEY-----")[:-1]:
        try:
            key = load_pem_public_key(f"{block.strip()}\n-----END PUBLIC KEY-----\n".encode())
        except ValueError:
            continue
        if isinstance(key, RSAPublicKey) and key.key_size >= LEAST_BITS:
            keys.append(key)
    return keys
