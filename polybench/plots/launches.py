"""Kernel launches of a run against its time."""

import numpy as np

from . import results, style

NAME = "launches"


def data(rows):
    """(kernel, dataset, launches, ms of a run) of `auto` or else the first
    offloaded configuration."""
    good = results.right(rows)
    good = good[(good["launches"] > 0) & (good["seconds"] > 0)].copy()
    good["ms"] = 1000 * good["seconds"]
    configs = list(good["config"].unique())
    if not configs:
        return good
    config = "auto" if "auto" in configs else configs[0]
    return good[good["config"] == config][
        ["dataset", "kernel", "config", "launches", "ms"]]


def draw(table, rows):
    made, axes = style.figure(
        7, 5, "Time of a run against its kernel launches "
        f"({table['config'].iloc[0]})",
        results.where(rows))
    many = table["dataset"].nunique() > 1
    for index, (dataset, points) in enumerate(table.groupby("dataset")):
        axes.scatter(points["launches"], points["ms"], s=18,
                     color=style.COLOURS[index], label=dataset, zorder=3)
    span = np.array([1, table["launches"].max() * 1.5])
    axes.plot(span, span * 0.002, color="#888888", linestyle="--",
              linewidth=0.8, label="what launching takes, 2 us each")
    axes.set_xscale("log")
    axes.set_xlim(0.7, 1.5 * span[1])
    axes.set_yscale("log")
    axes.set_ylim(table["ms"].min() / 2, table["ms"].max() * 2)
    axes.set_xlabel("kernel launches in one run")
    axes.set_ylabel("ms of one run, copies included")
    style.legend(axes)
    style.label_points(made, axes, [
        (row["launches"], row["ms"],
         f"{row['kernel']} {row['dataset']}" if many else row["kernel"])
        for _, row in table.iterrows()])
    return made
