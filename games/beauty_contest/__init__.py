"""The beauty contest: the closest to a fraction of the mean wins."""
