"""Every shipped market reads, clears, certifies, and has the prices that are known for it."""

import filecmp
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import catalogue, tables
from tests.shipped import CLEARED, WORKLOADS

MARKETS = Path(__file__).parents[2] / "models" / "markets"
GPU = MARKETS / "gpu"
NAMES = catalogue.names()


@pytest.mark.parametrize("name", CLEARED)
def test_it_certifies_at_1e_9_with_the_known_prices(name):
    market = qm.read_market(name)
    found = qm.clear(market, tolerance=1e-9)
    assert found.certificate.certified(1e-9)
    expected = catalogue_prices(name, market)
    if expected is None:
        assert name in ("gpu/gavel", "gpu/helios-earth", *WORKLOADS)
        return
    np.testing.assert_allclose(found.prices, expected, rtol=1e-9, atol=0)


def catalogue_prices(name, market):
    """Prices from the `expected` table, nan where it leaves one out, or None without a table."""
    table = tables.read(catalogue.path(name))["expected"]
    if not len(table):
        return None
    resources, prices = table.column("resource"), table.column("price")
    known = {
        resource: np.nan if price is None else float(tables.rational(price))
        for resource, price in zip(resources, prices, strict=True)
    }
    assert set(known) == set(market.goods)
    return [known[good] for good in market.goods]


@pytest.mark.parametrize("name", NAMES)
def test_the_file_speaks_for_itself(name):
    """Title, text, source and licence; a hand calculation wherever an answer is claimed."""
    read = tables.read(catalogue.path(name))
    for key in ("title", "about", "source", "licence", "period", "made_by"):
        assert read.market[key].strip(), key
    assert ("By hand" in read.market["about"]) == (len(read["expected"]) > 0)


def test_what_the_edge_cases_are_about():
    empty = qm.clear(qm.read_market("edge/empty-good"))
    assert empty.excluded.keys() == {"gamma", "h100"}
    assert not qm.clear(qm.read_market("edge/tie")).unique.allocation
    assert not qm.clear(qm.read_market("textbook/four-by-five")).unique.allocation
    idle = qm.clear(qm.read_market("edge/idle-at-reserve"))
    np.testing.assert_allclose(idle.idle, [2.5, 0], atol=1e-9)
    unwanted = qm.clear(qm.read_market("edge/unwanted-good"))
    np.testing.assert_allclose(unwanted.idle, [0, 0, 20, 10], atol=1e-9)
    kept = qm.clear(qm.read_market("edge/kept-credits"))
    np.testing.assert_allclose(kept.unspent, [74, 0], atol=1e-6)
    pools = qm.read_market("edge/pools")
    np.testing.assert_allclose(pools.budgets, [180, 60, 75, 45])
    own = qm.clear(qm.read_market("edge/pools-kept-credits"))
    np.testing.assert_allclose(own.unspent, [40, 0], atol=1e-6)
    np.testing.assert_allclose(own.unspent / own.market.credit_rate, [80, 0], atol=1e-6)


def test_saving_for_later_is_what_its_text_says():
    """Chips and savings, to the last bits."""
    market = qm.read_market("gpu/kept-credits", exact=True)
    assert market.budgets.tolist() == [1000, 500, 500, 700]
    found = qm.clear(market, exact=True, tolerance=1e-12)
    assert found.exact.prices == (15, 7)
    chips = [[Fraction(92, 3), 0], [0, Fraction(500, 7)], [Fraction(100, 3), 0]]
    chips.append([0, Fraction(396, 7)])
    np.testing.assert_allclose(
        sp.csr_array(found.allocation).toarray(), np.array(chips, dtype=float), rtol=1e-15
    )
    np.testing.assert_allclose(found.unspent, [540, 0, 0, 304], atol=1e-12)
    np.testing.assert_allclose(found.unspent / market.credit_rate, [1080, 0, 0, 152], atol=1e-11)
    assert found.unique.allocation


def test_pro_rata_among_ties():
    """Nine equal chips by budgets of 30 and 60: a third and two thirds of either place."""
    found = qm.clear(qm.read_market("edge/tie"))
    allocation = sp.csr_array(found.allocation).toarray()
    np.testing.assert_allclose(allocation, [[4 / 3, 5 / 3], [8 / 3, 10 / 3]], rtol=1e-6)


def test_helios_earth_is_what_its_readme_says():
    market = qm.read_market("gpu/helios-earth")
    assert market.shape == (16, 12)
    assert market.budgets.sum() == 856
    assert market.supplies.sum() == 685
    assert np.array_equal(market.supplies, market.supplies.round())
    values = sp.csr_array(market.utility.values).toarray().reshape(16, 4, 3)
    best = values.max(axis=2)
    assert (best[:, 0] == 1).all()  # an A30 at home is the unit
    away = np.sort(values, axis=2)[:, :, :2] / best[:, :, None]
    np.testing.assert_allclose(away, 0.9, rtol=1e-3)


def test_gavel_is_what_its_readme_says():
    market = qm.read_market("gpu/gavel")
    assert market.shape == (26, 3)
    assert market.goods == ("k80", "p100", "v100")
    assert market.supplies.tolist() == [12, 8, 6]
    assert (market.budgets == 100).all()
    values = sp.csr_array(market.utility.values).toarray()
    slower = {market.buyers[i] for i in np.flatnonzero(values[:, 2] < values[:, 1])}
    assert slower == {
        *(f"Recommendation b{batch}" for batch in (512, 1024, 2048, 4096, 8192)),
        "ResNet-18 b16",
        "ResNet-18 b32",
        "Transformer b256",
    }


def test_the_builder_gives_the_same_bytes(tmp_path):
    subprocess.run([sys.executable, str(GPU / "build.py"), str(tmp_path)], check=True)
    built = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert built == {path.relative_to(GPU) for path in GPU.glob("*/*.csv")} - {
        path.relative_to(GPU) for path in GPU.glob("source/*")
    }
    for path in built:
        assert filecmp.cmp(tmp_path / path, GPU / path, shallow=False), path


def test_folders_of_data_carry_a_readme_and_their_licences():
    for folder in (GPU / "gavel", GPU / "helios-earth"):
        assert (folder / "README.md").is_file()
        named = set(re.findall(r"LICENSE\.[\w.-]*\w", (folder / "README.md").read_text()))
        assert named == {path.name for path in folder.glob("LICENSE.*")}
        assert named
