"""Shipped markets with workloads: what they say is what their sources say."""

import csv
import filecmp
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from qmopt import catalogue, tables
from tests.shipped import WORKLOADS

GPU = Path(__file__).parents[2] / "models" / "markets" / "gpu"
PERCENT = {f"gpu/helios-workloads-{percent}": percent for percent in (100, 80, 65)}


def read(name):
    return tables.read(catalogue.path(name))


def source(name):
    with (GPU / "source" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(table, key, column):
    """One column of a table by others; where a cell is missing, 1."""
    keys = zip(*(table.texts(name) for name in key), strict=True)
    return dict(zip(keys, table.numbers(column, default=1).tolist(), strict=True))


def test_they_are_those_with_a_table_of_workloads():
    assert [name for name in catalogue.names() if len(read(name)["workloads"])] == list(WORKLOADS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_row_takes_part(name):
    market = read(name)
    own = ("team", "workload")
    demands = numbers(market["workloads"], own, "demand")
    assert min(demands.values()) > 0
    assert set(demands) == set(numbers(market["bids"], own, "value"))
    assert set(market["resources"].texts("resource")) == set(market["bids"].texts("resource"))
    assert (market["bids"].numbers("value") > 0).all()
    assert (market["teams"].numbers("credits") > 0).all()


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_gang_fits_into_every_resource_that_it_may_use(name):
    market = read(name)
    supply = numbers(market["resources"], ("resource",), "supply")
    gangs = numbers(market["workloads"], ("team", "workload"), "gang")
    rows = (market["bids"].texts(key) for key in ("team", "workload", "resource"))
    for team, workload, resource in zip(*rows, strict=True):
        assert gangs[team, workload] <= supply[(resource,)]


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_sources_and_licences_are_there(name):
    said = read(name).market
    assert said["made_by"] == "models/markets/gpu/build_workloads.py"
    assert (GPU / "build_workloads.py").is_file()
    assert "MLPerf Training v" in said["source"]
    assert "not verified by MLCommons" in (GPU / "README.md").read_text("utf-8")
    lie = GPU / "helios-earth"
    assert "in helios-earth/" in said["licence"]
    needed = {"Apache-2.0": "LICENSE.mlcommons-Apache-2.0"}
    if name in PERCENT:
        needed |= {
            "CC-BY-4.0": "LICENSE.HeliosData-CC-BY-4.0",
            "MIT": "LICENSE.HeliosArtifact-MIT",
        }
    for licence, file in needed.items():
        assert licence in said["licence"]
        assert (lie / file).is_file()


def test_the_builder_gives_the_same_bytes(tmp_path):
    script = GPU / "build_workloads.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    built = {path.name for path in tmp_path.iterdir()}
    assert built == {catalogue.path(name).name for name in WORKLOADS}
    for file in built:
        assert filecmp.cmp(tmp_path / file, GPU / file, shallow=False), file


# ---- helios-workloads


@pytest.mark.parametrize("name", PERCENT)
def test_helios_wants_what_its_clusters_ran_and_waited_for(name):
    """By hand from the extract: 693.93 GPUs ran, 209.46 were waited for, 903.39 in all."""
    market = read(name)
    demands = numbers(market["workloads"], ("team", "workload"), "demand")
    rows = source("helios_earth_hour.csv")
    for row in rows:
        for state in ("running", "pending"):
            wanted = float(row[f"{state}_gpus"])
            assert demands.get((row["vc"], state), 0) == wanted
    totals = [sum(q for (_, w), q in demands.items() if w == s) for s in ("running", "pending")]
    assert totals == pytest.approx([693.93, 209.46], abs=1e-9)
    assert "903.39 GPUs in all" in market.market["about"]
    assert len(demands) == 13 + 5
    assert len({team for team, _ in demands}) == 16 - 3  # three clusters wanted nothing
    assert len(market["bids"]) == 18 * 12
    credits = numbers(market["teams"], ("team",), "credits")
    assert credits == {(row["vc"],): float(row["quota_gpus"]) for row in rows}
    assert sum(credits.values()) == 856


@pytest.mark.parametrize(("name", "percent"), PERCENT.items())
def test_helios_has_so_many_percent_of_its_quotas(name, percent):
    supplies = read(name)["resources"].numbers("supply")
    assert supplies.sum() == round(8.56 * percent)
    assert (supplies == supplies.round()).all()
    # largest remainders: nothing is a whole chip off its share; an A30 in the east is 40% of 50%
    assert abs(supplies[0] - 8.56 * percent * 0.4 * 0.5) < 1


@pytest.mark.parametrize("name", PERCENT)
def test_helios_values_are_those_of_helios_earth(name):
    """A running chip is worth what it is there, a pending one 0.8 of that."""
    plain = numbers(read("gpu/helios-earth")["bids"], ("team", "resource"), "value")
    values = numbers(read(name)["bids"], ("team", "workload", "resource"), "value")
    for (team, workload, resource), value in values.items():
        worth = {"running": 1, "pending": 0.8}[workload]
        assert value == pytest.approx(worth * plain[team, resource], rel=1e-3)
        assert workload == "pending" or value == plain[team, resource]


def test_helios_at_80_percent_has_the_resources_of_helios_earth():
    plain, own = (read(n)["resources"] for n in ("gpu/helios-earth", "gpu/helios-workloads-80"))
    assert list(plain.rows()) == list(own.rows())


# ---- queue


def test_the_rates_of_the_queue_are_measured():
    """One by hand: 13.342 of 20.862 minutes, so an H100-PCIe is 0.6395 H100-SXM for resnet."""
    market = read("gpu/queue")
    minutes = {
        (row["benchmark"], row["gpu_type"]): float(row["minutes"])
        for row in source("mlperf_minutes.csv")
    }
    written = tomllib.loads(catalogue.path("gpu/queue").read_text("utf-8"))
    alike = {(row["team"], row["workload"]): row["_benchmark"] for row in written["workloads"]}
    rates = numbers(market["bids"], ("team", "workload", "resource"), "rate")
    assert rates["vision", "backbone", "H100-PCIe@west"] == 0.6395
    for (team, workload, resource), rate in rates.items():
        benchmark, chip = alike[team, workload], resource.partition("@")[0]
        exact = minutes[benchmark, "H100-SXM"] / minutes[benchmark, chip]
        assert rate == pytest.approx(exact, rel=1e-3)


def test_the_queue_wants_1_3_times_what_there_is():
    """Mean rates by hand: H100-PCIe 0.6267, L40 0.2584; 576 + 256*(0.6267 + 0.2584) = 802.6."""
    market = read("gpu/queue")
    demand = market["workloads"].numbers("demand").sum()
    supply = numbers(market["resources"], ("resource",), "supply")
    assert list(supply.values()) == [384, 192, 256, 256]
    worth = 384 + 192 + 256 * (0.6267 + 0.2584)
    assert demand == 1040
    assert demand / worth == pytest.approx(1.296, abs=1e-3)
    assert "worth 803" in market.market["about"]


def test_an_hour_of_demand_is_worth_the_same_wherever_it_is_served():
    bids = list(read("gpu/queue")["bids"].rows())
    assert len(bids) == 42
    assert len({(row["team"], row["workload"], row["value"]) for row in bids}) == 12


def test_the_queue_has_one_of_each_kind():
    market = read("gpu/queue")
    workloads = list(market["workloads"].rows())
    assert len(market["teams"]) == 5
    assert {row["gang"] for row in workloads} == {8, 64, 256}
    assert len({row["priority"] for row in workloads}) == 4
    per_team = [row["team"] for row in workloads]
    assert {per_team.count(team) for team in set(per_team)} == {2, 3}
    assert [row["workload"] for row in workloads if row.get("deadline")] == ["segment"]
    # a limit price beside others of its team: in own credits, kept ones worth 1, and the value
    [limited] = [row for row in workloads if row.get("limit_price") is not None]
    keep = {row["team"]: row.get("keep_value") or 0 for row in market["teams"].rows()}
    assert {team: kept for team, kept in keep.items() if kept} == {limited["team"]: 1}
    values = {
        row["value"]
        for row in market["bids"].rows()
        if (row["team"], row["workload"]) == (limited["team"], limited["workload"])
    }
    assert values == {limited["limit_price"]}


# ---- scaling-curves


def pieces():
    """By benchmark and chip: the corners of the curve, as its workloads are named."""
    market = read("gpu/scaling-curves")
    own = ("team", "workload")
    demands = numbers(market["workloads"], own, "demand")
    slopes = numbers(market["bids"], own, "value")
    found = {}
    for (team, workload), demand in demands.items():
        [(chip, few, many)] = re.findall(r"^(\S+) (\d+) to (\d+)$", workload)
        assert demand == int(many) - int(few)
        found.setdefault((team, chip), []).append((int(few), int(many), slopes[team, workload]))
    return found


def measured():
    found = {}
    for row in source("mlperf_scaling.csv"):
        curve = found.setdefault((row["benchmark"], row["gpu_type"]), {})
        curve[int(row["accelerators"])] = 60 / float(row["minutes"])
    return found


def test_the_curves_are_concave_and_nowhere_below_a_measurement():
    """Corners are measurements, slopes fall, all points lie under it: so the least such curve."""
    curves, points = pieces(), measured()
    assert curves.keys() == points.keys()
    for key, curve in curves.items():
        assert curve[0][0] == 0
        assert all(a[1] == b[0] and a[2] > b[2] for a, b in pairwise(curve)), key
        assert curve[-1][1] == max(points[key])
        corners = {many for _, many, _ in curve}
        for chips, runs in points[key].items():
            value = sum(
                slope * max(0, min(chips, many) - few) for few, many, slope in curve
            )  # whole pieces first: their slopes fall
            assert value >= runs * (1 - 1e-4), (key, chips)
            assert chips not in corners or value == pytest.approx(runs, rel=1e-4), (key, chips)


def test_what_the_curves_pass_over():
    """bert by hand: 8 A100 do 3.676 runs an hour, 64 do 24.23, a line between them 6.61 at 16;
    measured are 5.36."""
    over = {
        key: sorted(set(points) - {many for _, many, _ in pieces()[key]})
        for key, points in measured().items()
    }
    assert {key: chips for key, chips in over.items() if chips} == {
        ("bert", "A100"): [4, 16, 32],
        ("resnet", "A100"): [32],
        ("retinanet", "A100"): [16],
        ("rnnt", "A100"): [16],
    }
    said = " ".join(read("gpu/scaling-curves").market["about"].split())
    for (team, chip), chips in over.items():
        assert (f"{team} on {chip} at {', '.join(map(str, chips))}" in said) == bool(chips)


def test_half_of_the_chips_that_the_curves_would_take():
    market = read("gpu/scaling-curves")
    supply = numbers(market["resources"], ("resource",), "supply")
    wanted = dict.fromkeys(supply, 0)
    for (_, chip), curve in pieces().items():
        wanted[(chip,)] += curve[-1][1]
    assert wanted == {("A100",): 4 * 128, ("H100",): 4 * 32}
    assert supply == {chip: units / 2 for chip, units in wanted.items()}
    assert set(market["teams"].numbers("credits")) == {100}
