"""How many times faster than one core each kernel is, end to end."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from . import results, style

NAME = "speedup"
# In this order, and others behind them.
FIRST = ("omp", "auto", "auto@auto", "ppcg", "cublas", "32x8")
MARKERS = "osD^vPX*"


def data(rows):
    """Speedups over `seq`: a row per (dataset, kernel), a column per
    configuration; blocks other than 32x8 are left to the heat map."""
    good = results.right(rows)
    good = good[~results.has_block(good) | (good["config"] == "32x8")]
    table = good.pivot_table(index=["dataset", "kernel"], columns="config",
                             values="seconds", aggfunc="last")
    if "seq" not in table:
        return table.iloc[:0]
    table = table.rdiv(table["seq"], axis=0).drop(columns="seq")
    table = table.dropna(how="all").dropna(how="all", axis=1)
    order = [name for name in FIRST if name in table] + \
        [name for name in table if name not in FIRST]
    return table[order[:len(style.COLOURS)]]


def geometric_mean(values):
    values = values.dropna()
    return float(np.exp(np.log(values).mean()))


def draw(table, rows):
    # One dataset per figure: the largest that is there.
    sizes = ["EXTRALARGE", "LARGE", "STANDARD", "MEDIUM", "SMALL", "MINI"]
    dataset = next(size for size in sizes
                   if size in table.index.get_level_values(0))
    table = table.loc[dataset].dropna(axis=1, how="all")
    key = "auto" if "auto" in table else table.columns[0]
    table = table.loc[table[key].sort_values().index]
    made, axes = style.figure(
        7.5, 2 + 0.24 * len(table),
        f"Speedup over one core, {dataset}, end to end", results.where(rows))
    places = np.arange(len(table))
    for index, config in enumerate(table.columns):
        axes.scatter(table[config], places, marker=MARKERS[index],
                     s=40 if config == key else 22,
                     color=style.COLOURS[index], zorder=4 - index / 10,
                     label=f"{config}: {geometric_mean(table[config]):.1f}x "
                     f"({table[config].count()})")
    for place, value in zip(places, table[key]):
        if np.isfinite(value):
            axes.annotate(style.digits(value), (table.iloc[place].max(), place),
                          xytext=(7, 0), fontsize=7,
                          textcoords="offset points", va="center")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}x"))
    axes.set_yticks(places, table.index)
    axes.set_ylim(-0.6, len(table) - 0.4)
    axes.set_xlabel(f"times as fast as clang -O3 on one core (number: {key}; "
                    "above: geometric means, kernels)")
    style.legend(axes)
    return made
