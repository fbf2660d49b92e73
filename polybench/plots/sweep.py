"""Measured and estimated times of thread blocks, side by side, from a sweep
(sweep.py evaluate --shapes)."""

import numpy as np

from . import results, style

NAME = "sweep"


def data(rows):
    """A row per program and block: `measured` and `estimated` time over the
    best of the program's longest kernel, and whether it is `chosen`."""
    shapes = rows[rows["us"] > 0].copy() if "us" in rows else rows.iloc[:0]
    if shapes.empty:
        return shapes
    sizes = shapes["dataset"].map(results.DATASETS.index)
    shapes = shapes[sizes == sizes.max()]
    least = shapes.groupby(["program", "kernel"])["us"].min()
    longest = least.groupby("program").idxmax()
    shapes = shapes.set_index(["program", "kernel"]).loc[list(longest)]
    table = shapes.reset_index()
    each = table.groupby("program")
    table["measured"] = table["us"] / each["us"].transform("min")
    table["estimated"] = table["estimate_us"] / \
        each["estimate_us"].transform("min")
    table["chosen"] = table["chosen"] == "yes"
    return table[["program", "dataset", "block", "measured", "estimated",
                  "chosen"]]


def _panel(axes, table, column, title, blocks, programs):
    grid = table.pivot_table(index="program", columns="block", values=column)
    grid = grid.reindex(index=programs, columns=blocks)
    image = axes.imshow(np.log2(grid.clip(1, 4)), cmap="YlOrRd", aspect="auto",
                        vmin=0, vmax=2)
    best = grid.idxmin(axis=1).dropna()
    axes.scatter([blocks.index(block) for block in best],
                 [programs.index(program) for program in best.index],
                 marker="*", s=26, color="black", label="fastest", zorder=3)
    chosen = table[table["chosen"]]
    axes.scatter([blocks.index(block) for block in chosen["block"]],
                 [programs.index(program) for program in chosen["program"]],
                 marker="s", s=52, facecolors="none", edgecolors="#0072B2",
                 linewidths=1.2, label="chosen by auto", zorder=4)
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xticks(range(len(blocks)), blocks, rotation=90, fontsize=7)
    axes.set_yticks(range(len(programs)), programs, fontsize=8)
    axes.grid(visible=False)
    return image


def draw(table, rows):
    blocks = sorted(table["block"].unique(), key=results.block_key)
    programs = sorted(table["program"].unique())
    made, (left, right) = style.panels(
        2.5 + 0.4 * len(blocks), 2 + 0.2 * len(programs),
        "Time of each thread block over the best, longest kernel of each "
        f"program, {table['dataset'].iloc[0]}", results.where(rows))
    _panel(left, table, "measured", "measured", blocks, programs)
    image = _panel(right, table, "estimated", "estimated by the model", blocks,
                   programs)
    style.legend(left)
    bar = made.colorbar(image, ax=[left, right], ticks=[0, 1, 2], pad=0.02)
    bar.ax.set_yticklabels(["1x", "2x", "4x or more"])
    return made
