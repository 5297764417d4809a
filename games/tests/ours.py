"""The games of published systems, of which tests require more than the contract does of every game."""

from games import registry

OURS = tuple(key for key in registry.keys() if registry.get(key).system)
