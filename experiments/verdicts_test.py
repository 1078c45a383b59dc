#!/usr/bin/env python3
"""The checker of verdicts finds what it is there for: one contradiction at a time in results made by hand."""

import copy
import unittest

from verdicts_check import check
from verdicts_setups import line_gbps, random_setup, strict


def row(label, start, p99=100.0, dram=0.0, buffers=1000.0, no_drop=50.0, lost=0):
    """A row that is offered 50 Gbps for 1 ms in 10000 frames of 625 bytes, and loses `lost` of them."""
    p99s, drams, bufs = ([v * 0.99, v * 1.01] for v in (p99, dram, buffers))
    return {
        "label": label, "start": start, "offered_gbps": 50.0, "measured_s": 0.001, "drop_pct": lost / 100,
        "counted": {"offered": 10000, "offered_bytes": 6250000, "from_us": 7.0, "sent": 10000 - lost, "dropped": lost,
                    "waiting_before": 5},
        "conservation": {"offered": 20000, "delivered": 20000 - lost, "dropped": lost, "in_nic": 0, "buffers": 64,
                         "buffers_free": 64},
        "drops": {"ring_full": lost} if lost else {}, "throughput_gbps": 50.0 * (1 - lost / 10000),
        "no_drop_gbps": no_drop, "latency_us": {"p99": p99}, "dram_gbps": {"read": dram, "write": 0.0},
        "circulating_buffers": buffers,
        "range": {"lost_pct": [lost / 100, lost / 100], "latency_p99_us": p99s, "dram_gbps": drams,
                  "circulating_buffers": bufs},
    }


def says(label, carries="yes", left_out=False, reordered=0.0):
    return {"label": label, "carries": carries, "left_out": left_out, "flow_reordered_pct": reordered}


def result(a, b, carries, winner, by, headline, margin=None):
    """Two labels, `a` and `b`, by what their rows differ in."""
    rows = [row(label, start, **of) for label, of in (("a1", a), ("b2", b)) for start in ("empty", "full")]
    return {"results": rows, "remedies": [], "verdict": {
        "carries": [says("a1", carries[0]), says("b2", carries[1])], "winner": winner, "decided_by": by,
        "load_gbps": 50.0, "headline": headline, "margin": margin, "separates": None, "unconfirmed": None}}


def lead(value, other, pct, label="b2"):
    return {"next": label, "next_value": other, "pct": pct, "unit": "", "value": value}


def buffers():
    """Both carry; a1 wins by buffers."""
    return result({}, {"buffers": 2000.0}, ("yes", "yes"), "a1", "circulating_buffers",
                  "a1 and b2 carry 50 Gbps; a1 wins", lead(1000.0, 2000.0, 50.0))


def loss():
    """Only a1 carries."""
    return result({}, {"lost": 100, "no_drop": 40.0}, ("yes", "no"), "a1", "loss", "a1 carries 50.0 Gbps")


def overload():
    """None carries; a1 has the larger no-drop rate."""
    return result({"lost": 100, "no_drop": 40.0}, {"lost": 100, "no_drop": 30.0}, ("no", "no"), "a1", "no_drop_gbps",
                  "None carries 50 Gbps, a1 comes nearest", lead(40.0, 30.0, 33.3))


def least():
    """None carries, and nobody searched; a1 loses least."""
    return result({"lost": 100, "no_drop": None}, {"lost": 500, "no_drop": None}, ("no", "no"), "a1", "lost_pct",
                  "None carries 50 Gbps, a1 loses least", lead(1.0, 5.0, None))


def nobody():
    return result({}, {}, ("yes", "yes"), None, "none", "No winner: a1 and b2 carry 50 Gbps")


def change(out, path, value):
    """`out` with one place of it changed: keys and indices, separated by dots."""
    out = copy.deepcopy(out)
    *way, last = [int(k) if k.isdigit() else k for k in path.split(".")]
    at = out
    for key in way:
        at = at[key]
    at[last] = value
    return out


class Clean(unittest.TestCase):
    def test_nothing_is_found_where_nothing_is_wrong(self):
        for make in (buffers, loss, overload, least, nobody):
            self.assertEqual(check(make(), line_gbps=100), [], make.__name__)


class OneContradiction(unittest.TestCase):
    def finds(self, words, out, **how):
        found = check(out, **how)
        self.assertTrue(any(words in said for said in found), f"{words!r} is not in {found}")

    def test_counts_of_a_row(self):
        for path, value, words in (
                ("counted.sent", 10006, "sent 10006 frames of 10005"), ("counted.dropped", 100, "sent and dropped"),
                ("offered_gbps", 51.0, "not offered_bytes"), ("drop_pct", 1.0, "drop_pct 1.0 against"),
                ("drops", {"ring_full": 3}, "drops add up to 3"), ("conservation.in_nic", 1, "frames are not conserved"),
                ("conservation.buffers_free", 63, "buffers are not conserved")):
            self.finds(words, change(buffers(), f"results.1.{path}", value))

    def test_one_load(self):
        for path in ("counted.offered", "counted.offered_bytes", "counted.from_us", "measured_s"):
            self.finds(path.split(".")[0], change(buffers(), f"results.3.{path}", 9999))
        self.finds("load_gbps", change(buffers(), "verdict.load_gbps", 60.0))

    def test_line_rate(self):
        self.finds("above the line rate", buffers(), line_gbps=40)

    def test_carries_against_rows(self):
        self.finds("loses in all placements", change(loss(), "verdict.carries.1.carries", "yes"))
        self.finds("its rows do not", change(buffers(), "results.0.range.lost_pct", [0.0, 0.1]))
        self.finds("its rows do not", change(buffers(), "results.3.no_drop_gbps", 48.0))
        self.finds("its rows do", change(buffers(), "verdict.carries.1.carries", "no"))
        self.finds("rows of", change(buffers(), "verdict.carries", [says("a1")]))

    def test_a_rate_just_below_the_load_may_be_told_either_way(self):
        out = change(buffers(), "results.3.no_drop_gbps", 49.5)
        for says_it in ("yes", "no"):
            told = check(change(out, "verdict.carries.1.carries", says_it))
            self.assertFalse(any(said.startswith("b2: ") and "its rows" in said for said in told), told)

    def test_refused_frames_are_not_lost(self):
        out = loss()
        for r in out["results"][2:]:
            r["drops"], r["range"]["lost_pct"], r["no_drop_gbps"] = {"bad_frame": 100}, [0.0, 0.0], 50.0
        self.finds("b2: does not carry, and its rows do", out)

    def test_order(self):
        self.finds("left_out False", change(buffers(), "verdict.carries.1.flow_reordered_pct", 0.02))
        self.finds("left_out True", change(buffers(), "verdict.carries.1.left_out", True))
        out = change(buffers(), "verdict.carries.1", says("b2", "yes", True, 0.02))
        self.assertFalse(any("left_out" in said for said in check(out)))
        self.finds("order any", out, strict=False)

    def test_winner(self):
        self.finds("is left out", change(buffers(), "verdict.carries.0", says("a1", "yes", True, 1.0)))
        self.finds("winner b2 does not carry", change(loss(), "verdict.winner", "b2"))
        self.finds("has no row", change(loss(), "verdict.winner", "c3"))
        self.finds("wins by loss", change(buffers(), "verdict.decided_by", "loss"))
        self.finds("does not know", change(buffers(), "verdict.decided_by", "colour"))

    def test_no_winner(self):
        for make, words in ((buffers, "a1 is the best of a1 b2"), (loss, "a1 is the best of a1,"),
                            (overload, "a1 carries 40.00 Gbps, b2 30.00")):
            self.finds(f"no winner, and {words}", change(make(), "verdict.winner", None))

    def test_noise(self):
        text = "the largest difference is in circulating buffers: 1000 of a1 against 2000 buffers of b2, too little for the range over arrivals"
        self.finds("is told as too little", change(buffers(), "verdict.separates", text))

    def test_overload(self):
        self.finds("winner b2 carries 30.00 Gbps, a1 40.00", change(overload(), "verdict.winner", "b2"))
        self.finds("wins by loss of 5.00%", change(least(), "verdict.winner", "b2"))

    def test_costs(self):
        self.finds("b2 has 500", change(buffers(), "results.3.circulating_buffers", 500.0))
        out = change(buffers(), "results.3.latency_us.p99", 50.0)
        self.finds("b2 beats it in latency_p99_us", change(out, "results.3.range.latency_p99_us", [49.0, 51.0]))

    def test_margin(self):
        self.finds("margin of inf%", change(buffers(), "verdict.margin.pct", float("inf")))
        self.finds("margin of 2000.0%", change(buffers(), "verdict.margin.pct", 2000.0))
        self.finds("margin tells", change(buffers(), "verdict.margin.value", 900.0))
        self.finds("margin tells", change(buffers(), "verdict.margin.next_value", 900.0))
        self.finds("margin to c3", change(buffers(), "verdict.margin.next", "c3"))
        self.finds("does not lead", change(buffers(), "results.3.range.circulating_buffers", [900.0, 2100.0]))

    def test_remedies(self):
        self.finds("has a remedy", change(buffers(), "remedies", [{"label": "a1", "set": "--cores 16", "tried": []}]))
        out = change(overload(), "remedies", [{"label": "a1", "set": "--cores 12", "tried": ["--cores 10", "--cores 12"]}])
        for cores, found in (("10", True), ("11", False)):
            text = f"a1: none carries 50 Gbps. 8 cores carry 40 Gbps with a1; for 50 you need about {cores}, or less"
            self.assertEqual(any("does not do" in said for said in check(change(out, "verdict.headline", text))), found)

    def test_headline(self):
        self.finds("says no winner", change(buffers(), "verdict.headline", "No winner: a1 and b2 carry 50 Gbps"))
        self.finds("does not say so", change(nobody(), "verdict.headline", "a1 carries 50 Gbps"))
        self.finds("does not name the winner", change(buffers(), "verdict.headline", "b2 carries 50 Gbps"))
        self.finds("does not name the load", change(buffers(), "verdict.headline", "a1 wins at 60 Gbps"))


class Setups(unittest.TestCase):
    def test_a_number_gives_one_set_up(self):
        self.assertEqual(random_setup(7), random_setup(7))
        self.assertNotEqual(random_setup(7), random_setup(8))

    def test_what_the_arguments_ask_for(self):
        self.assertTrue(strict(["--app", "nat"]))
        self.assertFalse(strict(["--app", "kv"]))
        self.assertTrue(strict(["--app", "kv", "--order", "strict"]))
        self.assertEqual(line_gbps([]), 200)
        self.assertEqual(line_gbps(["--server", "corec-testbed"]), 40)
        self.assertEqual(line_gbps(["--ports", "1"]), 100)


if __name__ == "__main__":
    unittest.main()
