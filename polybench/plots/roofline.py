"""Where each kernel stands below what the device can do."""

import numpy as np

from . import results, style

NAME = "roofline"


def data(rows):
    """Intensity in operations per byte (of the least traffic), rate in
    GFLOP/s, share of the bound, of the configuration `auto` or else the first
    offloaded one. Empty without the device's rates."""
    ceilings = results.rates(rows)
    good = results.right(rows)
    good = good[(good["kernel_ms"] > 0) & (good["operations"] > 0) &
                (good["traffic"] > 0)]
    configs = list(good["config"].unique())
    if not configs or "bandwidth" not in ceilings:
        return good.iloc[:0]
    config = "auto" if "auto" in configs else configs[0]
    good = good[good["config"] == config].copy()
    good["intensity"] = good["operations"] / good["traffic"]
    seconds = good["kernel_ms"] / 1000
    good["gflops"] = good["operations"] / seconds / 1e9
    peak = good["type"].map(ceilings).fillna(ceilings.get("float", np.inf))
    bound = np.maximum(good["operations"] / peak,
                       good["traffic"] / ceilings["bandwidth"])
    good["share"] = bound / seconds
    return good.sort_values("intensity")[
        ["dataset", "kernel", "type", "config", "intensity", "gflops",
         "share"]]


def _percent(share):
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.2g}%"


def draw(table, rows):
    ceilings = results.rates(rows)
    made, axes = style.figure(
        8, 5.5, "Rate of each kernel on the device, and its share of what is "
        f"possible ({', '.join(table['dataset'].unique())}, "
        f"{table['config'].iloc[0]})", results.where(rows))
    low = 10**np.floor(np.log10(table["intensity"].min()) - 0.1)
    high = 10**np.ceil(np.log10(table["intensity"].max()) + 0.1)
    intensity = np.logspace(np.log10(low), np.log10(high), 200)
    for index, kind in enumerate(("double", "float")):
        if kind not in ceilings:
            continue
        roof = np.minimum(intensity * ceilings["bandwidth"], ceilings[kind])
        axes.plot(intensity, roof / 1e9, color=style.COLOURS[index],
                  label=f"possible for {kind}: "
                  f"{ceilings[kind] / 1e12:.1f} TFLOP/s, "
                  f"{ceilings['bandwidth'] / 1e12:.2f} TB/s")
    for index, kind in enumerate(("double", "float", "int")):
        points = table[table["type"] == kind]
        if not points.empty:
            axes.scatter(points["intensity"], points["gflops"], s=18,
                         color=style.COLOURS[index], zorder=3,
                         label=None if kind in ceilings else kind)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_xlabel("operations per byte that must be moved at least")
    axes.set_ylabel("GFLOP/s while its kernels run")
    style.legend(axes)
    style.label_points(made, axes, [
        (row["intensity"], row["gflops"],
         f"{row['kernel']} {_percent(row['share'])}")
        for _, row in table.iterrows()])
    return made
