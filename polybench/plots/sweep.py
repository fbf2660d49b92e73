"""Measured and estimated times of thread blocks, one above the other, from a
sweep (sweep.py evaluate --shapes)."""

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
                 marker="*", s=20, color="black", label="fastest", zorder=3)
    chosen = table[table["chosen"]]
    axes.scatter([blocks.index(block) for block in chosen["block"]],
                 [programs.index(program) for program in chosen["program"]],
                 marker="s", s=40, facecolors="none", edgecolors="#0072B2",
                 linewidths=1.2, label="chosen by auto", zorder=4)
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xticks(range(len(blocks)), blocks, rotation=90, fontsize=7)
    axes.set_yticks(range(len(programs)), programs, fontsize=7)
    axes.grid(visible=False)
    return image


def _shown(table):
    """The blocks worth a column: powers of two that many programs have (those
    of grids with two dimensions), and what is the fastest or chosen somewhere.
    """
    def is_power(block):
        return all(int(part).bit_count() == 1 for part in block.split("x"))

    programs = table["program"].nunique()
    common = table.groupby("block")["program"].nunique() > programs / 10
    blocks = {block for block in common[common].index if is_power(block)}
    for column in ("measured", "estimated"):
        blocks |= set(table[table[column] == 1]["block"])
    return sorted(blocks | set(table[table["chosen"]]["block"]),
                  key=results.block_key)


def draw(table, rows):
    blocks = _shown(table)
    table = table[table["block"].isin(blocks)]
    programs = sorted(table["program"].unique())
    made, (above, below) = style.panels(
        4 + 0.19 * len(blocks), 2.4 + 0.36 * len(programs),
        "Time of each thread block over the best one, for the longest kernel "
        f"of each program, {table['dataset'].iloc[0]} (white: not measured)",
        results.where(rows))
    _panel(above, table, "measured", "measured", blocks, programs)
    image = _panel(below, table, "estimated", "estimated by the model", blocks,
                   programs)
    below.set_xlabel("threads of a block along x, y and z, fewest in all first")
    style.legend(above)
    bar = made.colorbar(image, ax=[above, below], ticks=[0, 1, 2],
                        pad=0.02, aspect=60)
    bar.ax.set_yticklabels(["1x", "2x", "4x or more"])
    return made
