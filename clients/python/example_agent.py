"""An agent for bargaining: it offers half of the money and accepts what gives it at least 40 percent."""


def decide(seat):
    facts = {fact["key"]: fact["value"] for block in seat.data["view"] for fact in block.get("facts", [])}
    if seat.form["name"] == "answer":
        enough = facts["your_gain"] >= 0.4 * facts["money"]
        return {"decision": "accept" if enough else "reject"}
    half = facts["money"] / 2
    return {"alice_gain": half, "bob_gain": half}
