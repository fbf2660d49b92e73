"""Dynamic parallelism: each granularity of aggregation against plain
launches."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from . import results, style
from .speedup import geometric_mean

NAME = "aggregation"
GRANULARITIES = ("flat", "agg-warp", "agg-block", "agg-grid", "agg-auto")


def data(rows):
    """Speedups over `plain`: a row per program, a column per granularity."""
    good = results.right(rows)
    table = good.pivot_table(index="kernel", columns="config",
                             values="seconds", aggfunc="last")
    if "plain" not in table:
        return table.iloc[:0]
    table = table.rdiv(table["plain"], axis=0)
    table = table[[name for name in GRANULARITIES if name in table]]
    return table.dropna(how="all")


def draw(table, rows):
    made, axes = style.figure(
        min(max(6, 2 + 0.2 * table.size), 13), 4.5,
        "Aggregation: speedup over plain dynamic parallelism",
        results.where(rows))
    width = 0.8 / len(table.columns)
    places = np.arange(len(table))
    for index, name in enumerate(table.columns):
        axes.bar(places + (index - (len(table.columns) - 1) / 2) * width,
                 table[name] - 1, width, bottom=1,
                 color=style.COLOURS[index], label=f"{name} (geometric mean "
                 f"{geometric_mean(table[name]):.1f})")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}x"))
    axes.set_xticks(places, table.index, rotation=45, ha="right",
                    rotation_mode="anchor")
    axes.margins(x=0.01)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("times as fast as plain launches")
    style.legend(axes)
    return made
