"""The English auction: bidders raise the bid in turn or drop out for good; the last one pays its bid."""
