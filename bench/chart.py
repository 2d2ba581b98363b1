"""Draws measurements as SVG, readable on light and dark pages."""
import html
import math

# One color per side, the same in every chart: for light pages, for dark pages.
COLORS = {
    "Hearth": ("#c2410c", "#fb923c"),
    "PostgreSQL": ("#1d64b4", "#6cb0ff"),
    "emulator": ("#6b7280", "#a3aab5"),
    "ceiling": ("#b9b2a3", "#6d675c"),
}
WIDTH = 880
FONT = 12
LEGEND_HEIGHT = 30


def name_of(side):
    return side.lower()


def style():
    def rules(shade):
        text = ("#24292f", "#d7dde4")[shade]
        grid = ("#d8dee4", "#3a424c")[shade]
        colors = "".join(f".{name_of(side)}{{--side:{shades[shade]}}}" for side, shades in COLORS.items())
        return f"text{{fill:{text}}}.grid{{stroke:{grid}}}{colors}"
    return (f"<style>text{{font:{FONT}px system-ui,sans-serif}}.small{{font-size:10px}}.title{{font-weight:600}}"
            ".line{fill:none;stroke:var(--side);stroke-width:2}.mark{fill:var(--side)}"
            f"{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}</style>")


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>'


def legend(sides):
    parts, x = [], 8
    for side in sides:
        parts.append(f'<rect x="{x}" y="8" width="12" height="12" class="mark {name_of(side)}"/>')
        parts.append(text(x + 18, 18, side))
        x += 40 + 7 * len(side)
    return "".join(parts)


def document(height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
            f'aria-label="{html.escape(title)}">{style()}{body}</svg>\n')


def bars(title, groups):
    """Horizontal bars. `groups` has (label, [(side, what, value, shown)]); every group has its own scale."""
    label_width, bar_height, gap = 300, 16, 22
    sides, parts, y = {}, [], LEGEND_HEIGHT + 14
    for label, values in groups:
        parts.append(text(8, y, label, "title"))
        y += 8
        most = max(value for _, _, value, _ in values)
        for side, what, value, shown in values:
            sides[side] = None
            length = max(2, (WIDTH - label_width - 120) * value / most)
            parts.append(text(20, y + 12, what))
            parts.append(f'<rect x="{label_width}" y="{y}" width="{length:.1f}" height="{bar_height - 4}" '
                         f'class="mark {name_of(side)}"/>')
            parts.append(text(label_width + length + 6, y + 11, shown))
            y += bar_height + 2
        y += gap
    return document(y, title, legend(sides) + "".join(parts))


def lines(title, panels, x_name, y_name):
    """One small chart per panel, all on the same logarithmic axes. `panels` has (label, {side: [(x, y)]})."""
    columns, panel_width, panel_height, left, top = 4, 210, 170, 44, 26
    points = [point for _, sides in panels for each in sides.values() for point in each]
    x_low, x_high = (math.log10(pick(x for x, _ in points)) for pick in (min, max))
    y_low = math.floor(math.log10(min(y for _, y in points)))
    y_high = math.ceil(math.log10(max(y for _, y in points)))
    plot_width, plot_height = panel_width - left - 14, panel_height - top - 34

    def place(column, row, x, y):
        return (column * panel_width + left + plot_width * (math.log10(x) - x_low) / (x_high - x_low),
                row * panel_height + LEGEND_HEIGHT + top
                + plot_height * (y_high - math.log10(y)) / (y_high - y_low))

    parts, drawn = [], {}
    for index, (label, sides) in enumerate(panels):
        row, column = divmod(index, columns)
        parts.append(text(column * panel_width + 8, row * panel_height + LEGEND_HEIGHT + 14, label, "small title"))
        for exponent in range(y_low, y_high + 1):
            x, y = place(column, row, 10**x_low, 10**exponent)
            parts.append(f'<line x1="{x:.1f}" x2="{x + plot_width:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
            parts.append(text(x - 5, y + 3, y_name(10**exponent), "small", "end"))
        for exponent in range(round(x_low), round(x_high) + 1):
            x, y = place(column, row, 10**exponent, 10**y_low)
            parts.append(text(x, y + 14, x_name(10**exponent), "small", "middle"))
        for side, each in sides.items():
            drawn[side] = None
            placed = [place(column, row, *point) for point in each]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
            parts.append(f'<g class="{name_of(side)}"><polyline points="{path}" class="line"/>'
                         + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="mark"/>' for x, y in placed)
                         + "</g>")
    height = LEGEND_HEIGHT + panel_height * math.ceil(len(panels) / columns)
    return document(height, title, legend(drawn) + "".join(parts))


def duration(micros):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if micros >= size:
            return f"{micros / size:.3g} {unit}"
    return f"{micros:.3g} µs"
