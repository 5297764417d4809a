"""The documentation's site: `make docs` assembles its pages, builds them with Sphinx and checks their links."""
