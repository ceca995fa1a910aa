"""What the site is made of: every page is reached, the API is whole, the picture is of today."""

import re

import qmopt
from qmopt import catalogue, generate, tables, utilities
from tests.docs.pages import DOCS, PAGES, name

TREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def reached(page):
    """Return the pages that a page's tables of contents list, and those that these list."""
    found = {page}
    for tree in TREE.findall(page.read_text("utf-8")):
        for line in tree.splitlines():
            if line and not line.startswith(":"):
                target = re.sub(r".*<(.*)>", r"\1", line)
                found |= reached((page.parent / target).with_suffix(".md"))
    return found


def test_every_page_is_reached_from_the_index():
    pages = {name(page) for page in PAGES if page.is_relative_to(DOCS)}
    assert {name(page) for page in reached(DOCS / "index.md")} == pages


def test_the_api_lists_every_public_name():
    text = (DOCS / "api.md").read_text("utf-8")
    listed = set(re.findall(r"^(?:   |\.\. py:data:: )([\w.]+)$", text, re.MULTILINE))
    public = {*qmopt.__all__, *(f"tables.{each}" for each in tables.__all__)}
    assert public - listed == set(), "to be listed in docs/api.md"
    modules = {"catalogue": catalogue, "generate": generate, "utilities": utilities}
    for path in listed - public:
        module, _, thing = path.partition(".")
        assert hasattr(modules[module], thing), path


def test_the_picture_shows_what_the_market_gives():
    market = qmopt.Market([60, 40], [8, 16], qmopt.Linear([[4, 1], [2, 1]]))
    found = qmopt.clear(market)
    labels = {
        *(f"{chip}: {p:g}" for chip, p in zip(("H100", "A100"), found.prices, strict=True)),
        *(f"{x:g} {chip}" for chip, x in zip(("H100", "A100"), found.allocation[0], strict=True)),
    }
    for theme in ("light", "dark"):
        drawn = (DOCS / "picture" / f"credits-{theme}.svg").read_text("utf-8")
        assert labels <= set(re.findall(r">([^<>\n]+)</text>", drawn))
