"""A stand-in for Prolific: its interface, its signed links and its workers' pages, without people and money.

Source: docs.prolific.com, "API reference" and "Secured external URL". Where the documentation is silent or
says two things, this is what the stand-in does:

- A signed link has the study's own parameters and beside them `prolific_token`. Its `aud` is the origin of
  the study's address, its `sub` the submission, its `iss` https://www.prolific.com.
- Lists have `results`, `meta.count` and `_links.next.href`; rows of submissions call the worker
  `participant_id`, a single submission calls them `participant`.
- The bodies of errors are {"error": {"status", "error_code", "title", "detail"}}; the codes are made up.
- Only submissions that await review are approved or rejected; a repeated approval is an error.
- A bonus can be paid on a submission that awaits review or was approved. It is paid when the order is
  taken, or, with `pays_late`, when `pay_what_is_owed` is called; each call of pay pays again.
- A request that approves many is taken at once; with `pays_late` they are approved when `pay_what_is_owed` is
  called. Of submissions that no longer await review nothing is said. At most 200 are taken in one request, and as
  many bonuses; the rows of lists have `bonus_payments`.
- A code with the action REQUEST_RETURN leaves the submission awaiting review, with `return_requested` set.
- A return is asked for of submissions that await review; the worker may give the place back then, or not.
- Events of webhooks are sent once, after a worker's page, and may get lost; their names are `X-Event-ID`.
- A workspace without the fixed screen-out payment (`pays_screen_outs=False`) refuses it as a validation error of
  `completion_codes`. Who was paid so is SCREENED OUT, and their place is free again.
- Dynamic payment (`pays_parts`): an active submission is completed by the researcher with a code that has the action
  DYNAMIC_PAYMENT and 8 to 99 percent of the reward. It is PARTIALLY APPROVED then and keeps its place.
- A Taskflow study gives each newcomer the address with the most places left.
- Fees are a third of every reward and bonus, with a fifth of that as tax.
"""

from marketplaces.prolific.standin.market import Market
from marketplaces.prolific.standin.server import TOKEN, Misbehaviour, StandIn

__all__ = ["TOKEN", "Market", "Misbehaviour", "StandIn"]
