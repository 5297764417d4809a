"""The migrations of `studies` in a made-up next version: those of this version and one more."""
