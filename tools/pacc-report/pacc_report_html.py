"""The page of pacc-report: one file, no scripts, nothing from elsewhere."""

import math
from html import escape

import pacc_record as record

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto;
       max-width: 76em; padding: 0 1em; color: #222; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 2.2em 0 .3em; }
h3 { font-size: 1em; margin: 1.2em 0 .3em; }
p { margin: .3em 0; } a { color: #0b57a4; }
table { border-collapse: collapse; margin: .5em 0; }
th { text-align: left; font-weight: 600; color: #555; }
td, th { padding: .15em .6em; }
.list tr:nth-child(even) td { background: #f5f6f8; }
.list td.n { text-align: right; font-variant-numeric: tabular-nums; }
.list td:first-child, .map th { white-space: nowrap; }
.map { font-size: 12px; }
.map td { min-width: 2.1em; padding: .25em .15em; text-align: center;
          border: 1px solid #fff; font-variant-numeric: tabular-nums; }
.map th { text-align: right; font-weight: 400; }
.map td.chosen { outline: 3px solid #0b57a4; outline-offset: -3px;
                 font-weight: 700; }
.map small { display: block; color: inherit; opacity: .85; }
.maps { display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start; }
.scroll { overflow-x: auto; }
svg text { font: 11px system-ui, sans-serif; fill: #555; }
.bar span { display: inline-block; height: .8em; }
"""

# The terms that a candidate's time is made of, and their colours.
PARTS = {"issue": "#7a9e3f", "l1": "#c9a227", "l2": "#d9772b",
         "dram": "#b23a48", "latency": "#5b6abf", "start": "#7d8597"}
SHOWN = 12


def _colour(ratio):
    """Background and text for a time over the best: white to dark red, all
    above 4 alike."""
    share = min(math.log2(max(ratio, 1)) / 2, 1)
    red, green, blue = (round(255 + share * (end - 255))
                        for end in (165, 15, 21))
    return f"background:rgb({red},{green},{blue});" \
           f"color:{'#fff' if share > .55 else '#222'}"


def _us(value):
    """Four digits, or all before the point."""
    return f"{value:.0f}" if value >= 9999.5 else f"{value:.4g}"


def _ratio(value):
    return f"{value:.2f}" if value < 9.995 else f"{value:.0f}"


def _cell(candidate, best, measured, fastest, chosen):
    shape = candidate.shape
    ratio = candidate.terms["time"] / best
    title = f"{record.shape_text(shape)}: " + ", ".join(
        f"{name} {value:.4g}" for name, value in candidate.terms.items()) + \
        f" us; {candidate.warps} of {candidate.max_warps} warps " \
        f"({candidate.limit}); {candidate.sectors:g} sectors per request"
    text = _ratio(ratio)
    if shape in measured:
        text += f"<small>{_ratio(measured[shape] / fastest)}</small>"
    return f'<td style="{_colour(ratio)}" title="{escape(title)}"' \
           f'{" class=chosen" if shape == chosen else ""}>{text}</td>'


def _heat_map(kernel, candidates, measured, fastest):
    """x to the right, y down; one z."""
    best = kernel.candidates[0].terms["time"]
    by_shape = {one.shape: one for one in candidates}
    columns = sorted({shape[0] for shape in by_shape})
    rows = sorted({shape[1:] for shape in by_shape})
    lines = ["<table class=map><tr><th></th>" +
             "".join(f"<th>{x}</th>" for x in columns) + "</tr>"]
    for y, z in rows:
        cells = [_cell(by_shape[x, y, z], best, measured, fastest,
                       kernel.block) if (x, y, z) in by_shape else "<td></td>"
                 for x in columns]
        name = f"&times; {y}" + (f" &times; {z}" if z > 1 else "")
        lines.append(f"<tr><th>{name}</th>{''.join(cells)}</tr>")
    lines.append("</table>")
    return "".join(lines)


def _heat_maps(kernel, measured):
    fastest = min(measured.values()) if measured else 1
    depths = sorted({one.shape[2] for one in kernel.candidates})
    maps = [_heat_map(kernel, [one for one in kernel.candidates
                               if one.shape[2] == z], measured, fastest)
            for z in depths]
    what = "Estimated time over the best"
    if measured:
        what += "; below it the measured time over the fastest"
    return f"<h3>{what}</h3><div class='maps scroll'>{''.join(maps)}</div>"


def _bar(candidate, longest):
    """The terms side by side: they overlap, so that their sum is more than the
    time."""
    total = sum(candidate.terms[name] for name in PARTS)
    if not total or not longest:
        return ""
    width = 16 * candidate.terms["time"] / longest
    spans = "".join(
        f'<span style="width:{width * candidate.terms[name] / total:.2f}em;'
        f'background:{colour}" title="{name} {candidate.terms[name]:.4g} us">'
        "</span>" for name, colour in PARTS.items())
    return f"<span class=bar>{spans}</span>"


def _ranking(kernel, measured):
    shown = kernel.candidates[:SHOWN]
    longest = max(one.terms["time"] for one in shown)
    key = " ".join(f'<span class=bar><span style="width:.8em;background:'
                   f'{colour}"></span></span> {name}'
                   for name, colour in PARTS.items())
    lines = [f"<h3>The best candidates</h3><p>{key}</p>"
             "<table class=list><tr><th>block<th>estimate (us)"
             + ("<th>measured (us)" if measured else "") +
             "<th>terms<th>warps<th>limited by<th>sectors<th>waves"
             "<th>tail</tr>"]
    for one in shown:
        known = measured.get(one.shape)
        lines.append(
            f"<tr><td>{record.shape_text(one.shape)}"
            f"<td class=n>{_us(one.terms['time'])}" +
            (f"<td class=n>{_us(known)}" if known else
             "<td class=n>-" if measured else "") +
            f"<td>{_bar(one, longest)}<td class=n>{one.warps}/{one.max_warps}"
            f"<td>{escape(one.limit.replace(',', ', '))}"
            f"<td class=n>{one.sectors:g}<td class=n>{one.waves:.3g}"
            f"<td class=n>{one.tail:.2f}</tr>")
    return "".join(lines) + "</table>"


def _scatter(kernel, measured):
    """Measured against estimated time, both over their best, to 8."""
    both = [(one, measured[one.shape]) for one in kernel.candidates
            if one.shape in measured]
    if len(both) < 2:
        return ""
    size, margin, most = 240, 34, 3.0
    best = min(one.terms["time"] for one, _ in both)
    fastest = min(time for _, time in both)

    def at(ratio):
        return min(math.log2(ratio), most) / most * size

    dots = []
    for one, time in both:
        x, y = at(one.terms["time"] / best), at(time / fastest)
        chosen = one.shape == kernel.block
        dots.append(f'<circle cx="{margin + x:.1f}" cy="{size + 8 - y:.1f}" '
                    f'r="{5 if chosen else 3}" fill="'
                    f'{"#0b57a4" if chosen else "#b23a48"}" fill-opacity=".7">'
                    f"<title>{record.shape_text(one.shape)}</title></circle>")
    ticks = "".join(
        f'<text x="{margin + at(n):.0f}" y="{size + 22}" '
        f'text-anchor="middle">{n}</text><text x="{margin - 6}" '
        f'y="{size + 12 - at(n):.0f}" text-anchor="end">{n}</text>'
        for n in (1, 2, 4, 8))
    return ("<h3>Measured (up) against estimated (right), over the best</h3>"
            f'<svg width="{size + margin + 16}" height="{size + 30}">'
            f'<rect x="{margin}" y="8" width="{size}" height="{size}" '
            'fill="none" stroke="#ccc"/>'
            f'<line x1="{margin}" y1="{size + 8}" x2="{margin + size}" y2="8" '
            f'stroke="#ccc"/>{ticks}{"".join(dots)}</svg>')


def _kernel(kernel, measured):
    place = f" <small>{escape(kernel.place)}</small>" if kernel.place else ""
    lines = [f'<h2 id="{escape(kernel.name)}">{escape(kernel.name)}{place}</h2>',
             f"<p>Block <b>{record.shape_text(kernel.block)}</b> "
             f"({escape(kernel.reason)})"]
    if kernel.time is not None:
        lines.append(f", estimated {_us(kernel.time)} us, bound by "
                     f"{escape(kernel.bound)}; {escape(kernel.threads)} threads,"
                     f" {escape(kernel.registers)}")
    lines.append(".</p>")
    if kernel.smaller:
        lines.append("<p>Smaller launches: " + ", ".join(
            f"<b>{record.shape_text(block)}</b> up to {most} threads per SM"
            for most, block in kernel.smaller) + ".</p>")
    if kernel.accesses:
        lines.append("<h3>Accesses</h3><table class=list>")
        for access in kernel.accesses:
            what, _, rest = access.partition(": ")
            lines.append(f"<tr><td>{escape(what)}<td>{escape(rest)}</tr>")
        lines.append("</table>")
    if kernel.candidates:
        lines += [_heat_maps(kernel, measured), _ranking(kernel, measured),
                  _scatter(kernel, measured)]
    return "".join(lines)


def page(kernels, measured):
    """The page for kernels of pacc_record; measured: {kernel: {shape: us}}."""
    rows = "".join(
        f'<tr><td><a href="#{escape(one.name)}">{escape(one.name)}</a>'
        f"<td>{escape(one.place)}<td>{record.shape_text(one.block)}"
        f"<td>{escape(one.reason)}<td class=n>"
        f"{_us(one.time) if one.time is not None else '-'}"
        f"<td>{escape(one.bound)}</tr>" for one in kernels)
    sections = "".join(_kernel(one, measured.get(one.name, {}))
                       for one in kernels)
    return ("<!DOCTYPE html><html lang=en><head><meta charset=utf-8>"
            "<meta name=viewport content='width=device-width'>"
            f"<title>Thread blocks</title><style>{STYLE}</style></head><body>"
            "<h1>Thread blocks</h1><table class=list><tr><th>kernel<th>place"
            "<th>block<th>chosen by<th>estimate (us)<th>bound by</tr>"
            f"{rows}</table>{sections}</body></html>\n")
