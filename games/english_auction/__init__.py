"""The English auction: bidders name rising bids in turn or drop out for good; the last one pays its bid."""
