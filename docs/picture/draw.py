"""Draw the picture of the index page: how prices and chips follow credits in a small market.

Two teams share 8 H100 and 16 A100 and 100 credits. For vision an H100 does the work of 4 A100, for
speech of 2. The picture moves credits from speech to vision and clears each market on the way.

    python -m pip install matplotlib
    python docs/picture/draw.py

writes ``credits-light.svg`` and ``credits-dark.svg`` beside this file. The same version of
matplotlib writes the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import qmopt as qm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
CREDITS = 100
SUPPLIES = [8, 16]
VALUES = qm.Linear([[4, 1], [2, 1]])
#: Credits of vision at which the market is cleared: all of them or none would leave a team out, and
#: between 50 and 200/3 each team buys one kind of chip only.
STEPS = np.array([0.5, 20, 40, 50, 60, 200 / 3, 80, 99.5])
#: What the page tells about: 60 credits for vision, 40 for speech.
EXAMPLE = 60

INK = {
    "light": {"text": "#323b4c", "faint": "#d9dde4", "H100": "#0b6bb5", "A100": "#b4560b"},
    "dark": {"text": "#ced6dd", "faint": "#48566b", "H100": "#6cb6f5", "A100": "#f0a35e"},
}


def curves() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return prices and chips of vision, each of shape (steps, 2), H100 first."""
    prices, held = [], []
    for credits in STEPS:
        found = qm.clear(qm.Market([credits, CREDITS - credits], SUPPLIES, VALUES))
        prices.append(found.prices)
        held.append(found.allocation[0])
    return np.array(prices), np.array(held)


def draw(ink: dict[str, str], prices: NDArray[np.float64], held: NDArray[np.float64]) -> Figure:
    """Return the figure in one set of inks."""
    import matplotlib.pyplot as plt

    here = STEPS.tolist().index(EXAMPLE)
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.5), layout="constrained")
    labels = (("H100: {:g}", "A100: {:g}"), ("{:g} H100", "{:g} A100"))
    above = ((True, False), (True, True))
    for axis, curve, texts, places in zip(axes, (prices, held), labels, above, strict=True):
        axis.axvspan(50, 200 / 3, color=ink["faint"], alpha=0.35, linewidth=0, zorder=0)
        for name, line, text, over in zip(("H100", "A100"), curve.T, texts, places, strict=True):
            axis.plot(STEPS, line, color=ink[name], linewidth=2.2)
            axis.plot(EXAMPLE, line[here], "o", color=ink[name], markersize=6)
            axis.annotate(
                text.format(line[here]),
                (EXAMPLE, line[here]),
                (-8, 7 if over else -16),
                textcoords="offset points",
                ha="right",
                weight="bold",
                color=ink[name],
            )
        axis.set_xlim(0, CREDITS)
        axis.set_xticks([0, 20, 40, 60, 80, 100])
        axis.set_xlabel("credits of vision; speech has the rest of 100", color=ink["text"])
        axis.tick_params(colors=ink["text"], length=3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.spines[["bottom", "left"]].set_color(ink["faint"])
    left, right = axes
    left.set_title("Price of a chip, credits per hour", loc="left", color=ink["text"], size=11)
    left.set_ylim(0, 10)
    right.set_title("Chips that vision gets", loc="left", color=ink["text"], size=11)
    right.set_ylim(-0.4, 17)
    right.set_yticks([0, 4, 8, 12, 16])
    return figure


def main() -> None:
    """Write both files."""
    import matplotlib as mpl

    # text stays text: it can be searched, read aloud, and is set in the page's own kind of font
    mpl.rcParams |= {
        "svg.hashsalt": "qmopt",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
    }
    mpl.use("svg")
    prices, held = curves()
    for theme, ink in INK.items():
        figure = draw(ink, prices, held)
        figure.savefig(
            FOLDER / f"credits-{theme}.svg",
            transparent=True,
            metadata={"Date": None, "Creator": "docs/picture/draw.py"},
        )


if __name__ == "__main__":
    main()
