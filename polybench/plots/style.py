"""The look that all figures share."""

import math

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00",
           "#F0E442", "#000000")

matplotlib.rcParams.update({
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd",
    "grid.linewidth": 0.6, "legend.frameon": False, "figure.dpi": 110,
    "svg.hashsalt": "polly-acc", "svg.fonttype": "none"})


def _label(made, title, where):
    made.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    made.supxlabel(where, fontsize=6, color="#666666", x=0.01, ha="left")


def figure(width, height, title, where):
    """A figure of inches with a title at its top and the origin of its data
    at its foot: (figure, axes)."""
    made, axes = pyplot.subplots(figsize=(width, height),
                                 layout="constrained")
    _label(made, title, where)
    return made, axes


def panels(width, height, title, where):
    """The same with two panels, one above the other, that share their columns."""
    made, both = pyplot.subplots(2, 1, sharex=True, figsize=(width, height),
                                 layout="constrained")
    _label(made, title, where)
    return made, both


def digits(value):
    """Three significant digits, never as a power of ten."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}"


def legend(axes):
    """A legend above the axes, where it hides nothing."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2,
                ncols=3, fontsize=8)


def label_points(made, axes, points):
    """Names points [(x, y, text)]: each name takes the nearest place where it
    covers neither a point nor another name. The axes' limits must be final."""
    made.canvas.draw()
    renderer = made.canvas.get_renderer()
    spots = [axes.transData.transform((x, y)) for x, y, _ in points]
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in spots]
    frame = axes.get_window_extent()

    def free(box):
        return (box[0] >= frame.x0 and box[2] <= frame.x1 and
                box[1] >= frame.y0 and box[3] <= frame.y1 and
                not any(box[0] < other[2] and other[0] < box[2] and
                        box[1] < other[3] and other[1] < box[3]
                        for other in taken))

    scale = 72 / made.dpi
    for (x, y, text), (left, bottom) in zip(points, spots):
        note = axes.annotate(text, (x, y), xytext=(0, 0), fontsize=7,
                             textcoords="offset points", va="center")
        size = note.get_window_extent(renderer)
        width, height = size.width, size.height
        places = ((radius, angle) for radius in range(6, 400, 4)
                  for angle in (0, 180, 30, -30, 150, -150, 60, -60, 90, -90,
                                120, -120))
        for radius, angle in places:
            across = radius * math.cos(math.radians(angle))
            up = radius * math.sin(math.radians(angle))
            if abs(angle) > 90:
                across -= width
            elif abs(angle) == 90:
                across -= width / 2
            box = (left + across, bottom + up - height / 2,
                   left + across + width, bottom + up + height / 2)
            if free(box):
                break
        taken.append(box)
        note.set_position((across * scale, up * scale))
        if radius > 10:
            axes.annotate("", (x, y), xytext=(
                (across + (width if abs(angle) > 90 else 0)) * scale,
                up * scale), textcoords="offset points", arrowprops={
                    "arrowstyle": "-", "color": "#aaaaaa", "linewidth": 0.5})


def save(made, folder, name):
    """Writes NAME.png and NAME.svg: their paths."""
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    made.savefig(paths[0], dpi=150)
    made.savefig(paths[1], metadata={"Date": None})
    pyplot.close(made)
    return paths
