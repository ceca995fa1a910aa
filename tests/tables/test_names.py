"""Names from anywhere pass; names made to be taken for others do not."""

# Looks are what this is about.
# ruff: noqa: RUF001, E501

import pytest

from qmopt import tables
from qmopt.tables.lookalikes import folded, looks
from qmopt.tables.names import bad_characters

LEGITIMATE = [
    "Восток", "h100-восток", "команда ml", "Београд", "Київ", "Ελλάδα", "Δx", "μService", "β-test",
    "東京", "チームA", "機械学習team", "서울", "กรุงเทพ", "दिल्ली", "தமிழ்", "فريق", "צוות", "Հայաստան", "საქართველო",
    "می\u200cخواهم", "क्\u200dष", "\U0001f469\u200d\U0001f52c", "❤\ufe0f", "葛\U000e0100", "İstanbul", "ısı", "straße",
    "Zoë", "Zoe\u0308", "São Paulo", "a.b/c:d", "h100@east", "team #7", "50% share", "½", "m²", "x×y", "us–east",
    "007", "NA", "<b>", "=1+1", " padded ", "'", "$HOME", "[red]",
]  # fmt: skip


@pytest.mark.parametrize("name", LEGITIMATE)
def test_names_of_many_languages_pass(name):
    assert bad_characters(name, in_id=True) == ""
    market = tables.from_frames(
        resources=[{"resource": name, "supply": 1}],
        teams=[{"team": name, "credits": 1}],
        bids=[{"team": name, "resource": name, "value": 1}],
    )
    assert market["teams"].column("team") == [name]


@pytest.mark.parametrize(
    "pair",
    [
        ("vision", "Vision"), ("vision", "vision "), ("a b", "a  b"), ("a b", "a\u00a0b"), ("straße", "STRASSE"),
        ("Zoë", "Zoe\u0308"), ("h100", "ｈ100"), ("fine", "ﬁne"), ("a", "\u0430"), ("CO", "\u0421\u041e"),
        ("Восток", "восток"), ("h100", "\u04bb100"), ("ABE", "\u0391\u0392\u0395"), ("us-east", "us–east"),
        ("l4", "ⅼ4"), ("x", "\U0001d431"), ("葛", "葛\U000e0100"), ("É", "e\u0301"), ("O", "\u039f"),
    ],
)  # fmt: skip
def test_twins_are_refused_and_alone_they_pass(refused, pair):
    one, other = pair
    assert folded(one) == folded(other) or looks(one) == looks(other)
    market = {"resources": [{"resource": "r", "supply": 1}], "bids": []}
    teams = [{"team": name, "credits": 1} for name in pair]
    (line,) = refused(**market, teams=teams)
    assert line.startswith("teams[1].team: ")
    assert " looks like " in line
    assert " in place of " in line
    for team in teams:
        assert len(tables.from_frames(**market, teams=[team])["teams"]) == 1


@pytest.mark.parametrize(
    "pair",
    [("l4", "14"), ("a", "b"), ("O", "0"), ("m2", "m²"), ("vision-1", "vision-2"), ("a-b", "ab")],
)
def test_names_that_differ_to_the_eye_pass_together(pair):
    assert folded(pair[0]) != folded(pair[1])
    assert looks(pair[0]) != looks(pair[1])


@pytest.mark.parametrize(
    "name",
    [
        "p\u0430ypal", "\u0421loud", "visi\u03bfn", "\u043c\u043e\u0441\u043a\u0432a", "a\u200cb", "\u200dx", "x\u200d",
        "a\u200d\u200db", "a\u00adb", "x\u2066y", "\u2800", "a\ufeff", "\U000e0041", "\u0085x", "\uffff",
    ],
)  # fmt: skip
def test_names_that_mislead_alone(name):
    assert bad_characters(name, in_id=True)


def test_prose_may_be_written_from_right_to_left():
    assert bad_characters("שלום \u200eabc\u200f\n\tمرحبا", in_id=False) == ""
    assert bad_characters("\u202eabc", in_id=False).endswith("character U+202E")


def test_twins_among_workloads_are_those_of_one_team(refused, full):
    train = full["workloads"][0]
    full["workloads"] += [train | {"team": "b", "workload": "Train"}]
    assert tables.from_frames(**full)["workloads"].column("workload")[-1] == "Train"
    full["workloads"] += [train | {"workload": "TRAIN"}]
    (line,) = refused(**full)
    assert line == (
        "workloads[3].workload: 'TRAIN' looks like 'train' (workloads[0].workload): "
        "U+0054 in place of U+0074"
    )


def test_twins_among_options(refused, full):
    full["bids"] += [{"team": "a", "workload": "train", "option": "Mixed", "value": 1}]
    full["needs"] += [{**row, "option": "Mixed"} for row in full["needs"]]
    lines = refused(**full)
    assert lines[0].startswith("bids[3].option: 'Mixed' looks like 'mixed' (bids[1].option)")
    assert all(" looks like " in line for line in lines)
