"""What the shape of the thread block costs: each kernel's time with each block
against its best one, and what `auto` chose."""

import numpy as np

from . import results, style

NAME = "blocks"


def data(rows):
    """Device time over the best of the row: a row per (dataset, kernel), a
    column per block. Kernels with fewer than two blocks are left out."""
    good = results.right(rows)
    good = good[results.has_block(good)]
    good = good[good["kernel_ms"] > 0]
    table = good.pivot_table(index=["dataset", "kernel"], columns="config",
                             values="kernel_ms", aggfunc="last")
    if table.empty:
        return table
    table = table[sorted(table.columns, key=results.block_key)]
    table = table[table.notna().sum(axis=1) > 1]
    return table.div(table.min(axis=1), axis=0)


def automatic(rows, table):
    """Device time of `auto` over the best block, for the rows of `table`."""
    good = results.right(rows)
    auto = good[good["config"] == "auto"].set_index(["dataset", "kernel"])
    blocks = good[results.has_block(good)]
    best = blocks.groupby(["dataset", "kernel"])["kernel_ms"].min()
    return (auto["kernel_ms"] / best).reindex(table.index)


def draw(table, rows):
    auto = automatic(rows, table)
    shown = table.copy()
    columns = list(table.columns)
    if auto.notna().any():
        shown.insert(0, "auto", auto)
        columns.insert(0, "auto")
    one_dataset = table.index.get_level_values(0).nunique() == 1
    title = "Device time against each kernel's best thread block"
    if one_dataset:
        title += f", {table.index[0][0]}"
    made, axes = style.figure(2.2 + 0.55 * len(columns),
                              1.6 + 0.26 * len(shown), title,
                              results.where(rows))
    values = shown.to_numpy(dtype=float)
    image = axes.imshow(np.log2(np.clip(values, 1, 4)), cmap="YlOrRd",
                        aspect="auto", vmin=0, vmax=2)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = values[row, column]
            if np.isfinite(value):
                axes.text(column, row, f"{value:.2f}" if value < 9.995
                          else f"{value:.0f}", ha="center", va="center",
                          fontsize=7,
                          color="white" if value > 2.6 else "black")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right",
                    rotation_mode="anchor")
    axes.set_yticks(range(len(shown)),
                    [kernel if one_dataset else f"{kernel} {dataset}"
                     for dataset, kernel in shown.index])
    axes.grid(visible=False)
    axes.set_xlabel("threads along x, y, z")
    bar = made.colorbar(image, ticks=[0, 1, 2], pad=0.02)
    bar.ax.set_yticklabels(["1x", "2x", "4x or more"])
    return made
