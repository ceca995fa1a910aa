"""What people see of an answer: one line, a notebook's page, DataFrames."""

from html.parser import HTMLParser

import numpy as np
import pytest

import qmopt as qm


class Page(HTMLParser):
    """Collects tags and texts, and that every tag that opens closes."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    page = Page()
    page.feed(html)
    page.close()
    assert not page.open
    return page


def test_one_line():
    found = qm.clear(qm.read_market("textbook/two-teams"))
    assert repr(found) == "Equilibrium(2 buyers, 2 goods, certified, worst residual 0)"


def test_a_notebook_shows_prices_allocation_and_teams():
    page = read(qm.clear(qm.read_market("textbook/two-teams"))._repr_html_())
    assert page.tags.count("table") == 3
    assert "7.5" in page.texts
    assert "2.5" in page.texts


def test_names_cannot_write_html():
    market = qm.Market([1], [1], qm.Linear([[1]]), buyers=["<script>a</script>"], goods=["<b>&x"])
    page = read(qm.clear(market)._repr_html_())
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert {"<script>a</script>", "<b>&x"} <= set(page.texts)


def test_a_long_market_is_cut_and_says_so():
    market = qm.Market(np.ones(30), [30], qm.Linear(np.ones((30, 1))))
    page = read(qm.clear(market)._repr_html_())
    assert any("first 20 of 30 rows" in text for text in page.texts)


def test_excluded_teams_are_told():
    market = qm.Market([1, 0], [1], qm.Linear([[1], [1]]), buyers=["a", "poor"])
    assert "excluded: poor: no credits" in read(qm.clear(market)._repr_html_()).texts


def test_tables_hold_what_was_bought_and_what_was_guaranteed():
    market = qm.Market.from_tables(
        resources=[{"resource": "h100", "supply": 10}],
        teams=[{"team": "a", "credits": 30}, {"team": "b", "credits": 10}],
        bids=[
            {"team": "a", "resource": "h100", "value": 1},
            {"team": "b", "resource": "h100", "value": 1},
        ],
        guarantees=[{"team": "b", "resource": "h100", "units": 2}],
    )
    tables = qm.clear(market).tables()
    # 8 chips are sold for 40 credits, so at 5 each: 6 to a, 2 to b, who holds its 2 beside them
    assert tables["prices"]["price"].tolist() == pytest.approx([5.0])
    assert tables["allocation"]["units"].tolist() == pytest.approx([6.0, 4.0])
    assert tables["allocation"]["spend"].tolist() == pytest.approx([30.0, 10.0])
    assert tables["allocation"]["guaranteed"].tolist() == [0.0, 2.0]
    assert tables["teams"]["utility"].tolist() == pytest.approx([6.0, 2.0])


def test_own_credits_stand_beside_market_credits():
    market = qm.Market.from_tables(
        resources=[{"resource": "h100", "supply": 4}],
        pools=[{"pool": "ads", "weight": 10, "minted": 100}],
        teams=[{"team": "a", "credits": 40, "pool": "ads"}],
        bids=[{"team": "a", "resource": "h100", "value": 1}],
    )
    teams = qm.clear(market).tables()["teams"]
    # one credit of the pool is worth 10/100 market credits: 40 own are 4 of the market's
    assert teams["budget"].tolist() == pytest.approx([4.0])
    assert teams["budget_own"].tolist() == pytest.approx([40.0])
    assert teams["spend_own"].tolist() == pytest.approx([40.0])
