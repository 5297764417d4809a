"""A stand-in for Prolific: its API, its signed links and its participants' pages, without people or money.

Source: docs.prolific.com, "API reference" and "Secured external URL". Where the documentation is silent or
contradicts itself, the stand-in behaves as follows:

- A signed link has the study's own parameters and `prolific_token`. Its `aud` is the origin of the study's
  address, its `sub` the submission, its `iss` https://www.prolific.com.
- Lists have `results`, `meta.count` and `_links.next.href`; rows of submissions name the participant in
  `participant_id`, a single submission in `participant`.
- The bodies of errors are {"error": {"status", "error_code", "title", "detail"}}; the codes are made up.
- Only submissions that await review are approved or rejected; a repeated approval is an error.
- A bonus can be paid on a submission that awaits review or was approved. It is paid when the order is
  accepted or, with `pays_late`, when `pay_outstanding` is called; each call of pay pays again.
- A request that approves many is accepted at once; with `pays_late`, they are approved when `pay_outstanding` is
  called. Submissions that no longer await review are silently ignored. One request may contain at most 200
  submissions, and as many bonuses; the rows of lists have `bonus_payments`.
- A code with the action REQUEST_RETURN leaves the submission awaiting review, with `return_requested` set.
- A return can be requested for submissions that await review. The participant can then return the submission or keep
  it.
- Webhook events are sent once, after the response to the participant's page, and may be lost; their IDs are in
  `X-Event-ID`.
- A workspace without the fixed screen-out payment (`pays_screen_outs=False`) refuses it as a validation error of
  `completion_codes`. Participants paid this way are SCREENED OUT, and their places are free again.
- Dynamic payment (`pays_parts`): the researcher completes an active submission with a code that has the action
  DYNAMIC_PAYMENT and 8 to 99 percent of the reward. It is then PARTIALLY APPROVED and keeps its place.
- A Taskflow study gives each newcomer the address with the most places left.
- Fees are a third of every reward and bonus, and tax is a fifth of the fees.
"""

from marketplaces.prolific.standin.market import Market
from marketplaces.prolific.standin.server import TOKEN, StandIn

__all__ = ["TOKEN", "Market", "StandIn"]
