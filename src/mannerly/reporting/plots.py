"""Plots as SVG: lines over time, histograms on a logarithmic axis, bars.

Each is a drawing that stands for itself: axes with units, a title and a description for who does
not see it, colours as attributes, so that it can be cut out of the page and put into a paper. In
the page a style sheet gives the same classes the colours of light and dark. No colour stands
alone: a second line is dashed, and every mark has its words.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mannerly.reporting.markup import Markup, element, joined
from mannerly.reporting.scales import Tick, short, ticks_to

WIDTH = 440
HEIGHT = 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 28, 48
_INK, _QUIET, _GRID = "#16201d", "#515d58", "#d9dfdc"
_SERIES = ("#0b7a69", "#b4530a", "#3f5fc4")
_DASHES = (None, "5 3", "2 2")
_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_BAR_HEIGHT, _BAR_STEP = 15, 23
_BAR_LEFT, _BAR_RIGHT = 148, 74
_NAME_CHARS = 20
_CHAR_WIDTH = 7.2
"""Of a letter of the labels, about: nobody measures them here."""
_MARK_STEP = 16


class Told(NamedTuple):
    """What a plot says to who does not see it."""

    name: str
    """An identifier in the page."""
    title: str
    description: str


class Series(NamedTuple):
    label: str
    points: Sequence[tuple[float, float]]


class Block(NamedTuple):
    """A bar of a histogram."""

    low: float
    high: float
    rows: int


class Mark(NamedTuple):
    """A value worth a line of its own."""

    at: float
    label: str


class Bar(NamedTuple):
    label: str
    value: float
    shown: str


class _Frame(NamedTuple):
    """Where data is on the drawing."""

    x: Callable[[float], float]
    y: Callable[[float], float]
    bottom: float


def lines(
    told: Told, series: Sequence[Series], x_most: float, x_label: str, y_label: str
) -> Markup:
    """Lines over an axis from 0 to `x_most`, both axes linear."""
    most = max((y for one in series for _, y in one.points), default=0.0)
    y_ticks = ticks_to(most or 1.0, short)
    x_ticks = [tick for tick in ticks_to(x_most, short, 8) if tick.at <= x_most]
    frame = _frame((0.0, x_most), y_ticks[-1].at)
    drawn = [_axes(frame, x_ticks, y_ticks, x_label, y_label)]
    for number, one in enumerate(series):
        steps = " ".join(
            f"{'L' if index else 'M'}{frame.x(x):.1f} {frame.y(y):.1f}"
            for index, (x, y) in enumerate(one.points)
        )
        drawn.append(element("path", {
            "class": f"line s{number}", "stroke": _SERIES[number], "fill": "none",
            "stroke_width": 1.6, "stroke_linejoin": "round",
            "stroke_dasharray": _DASHES[number], "d": steps,
        }))  # fmt: skip
    return _drawing(told, HEIGHT, *drawn, _legend(series) if len(series) > 1 else "")


def histogram(
    told: Told,
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    x_range: tuple[float, float],
    x_ticks: Sequence[Tick],
    x_label: str,
    y_label: str,
) -> Markup:
    """Counts over a logarithmic axis, and dashed lines at what is worth one, in ascending order;
    their labels have room of their own above the bars."""
    low, high = x_range
    within = [mark for mark in marks if low <= mark.at <= high]
    labels = _MARK_STEP * len(within)
    y_ticks = ticks_to(max(block.rows for block in blocks), short)
    frame = _frame((low, high), y_ticks[-1].at, top=_TOP + labels, logarithmic=True)
    drawn = [_axes(frame, x_ticks, y_ticks, x_label, y_label)]
    for block in blocks:
        left, right = frame.x(block.low), frame.x(block.high)
        top = frame.y(block.rows)
        drawn.append(element("rect", {
            "class": "fill s0", "fill": _SERIES[0], "x": f"{left + 0.5:.1f}", "y": f"{top:.1f}",
            "width": f"{max(0.5, right - left - 1):.1f}", "height": f"{frame.bottom - top:.1f}",
        }))  # fmt: skip
    drawn += [_mark(frame, mark, number) for number, mark in enumerate(within)]
    return _drawing(told, HEIGHT + labels, *drawn)


def bars(told: Told, rows: Sequence[Bar]) -> Markup:
    """A bar a row, its name before it and its number behind it."""
    most = max((row.value for row in rows), default=0.0) or 1.0
    room = WIDTH - _BAR_LEFT - _BAR_RIGHT
    drawn = []
    for number, row in enumerate(rows):
        top = number * _BAR_STEP + 4
        middle = top + _BAR_HEIGHT / 2 + 4
        length = max(1.0, room * row.value / most)
        drawn += [
            _words(_BAR_LEFT - 8, middle, _cut(row.label), anchor="end"),
            element("rect", {"class": "fill s0", "fill": _SERIES[0], "x": _BAR_LEFT, "y": top,
                             "width": f"{length:.1f}", "height": _BAR_HEIGHT}),
            _words(_BAR_LEFT + length + 6, middle, row.shown, quiet=True),
        ]  # fmt: skip
    return _drawing(told, len(rows) * _BAR_STEP + 8, *drawn)


def _cut(label: str) -> str:
    return label if len(label) <= _NAME_CHARS else label[: _NAME_CHARS - 1] + "…"


def _frame(
    x_range: tuple[float, float], y_most: float, *, top: float = _TOP, logarithmic: bool = False
) -> _Frame:
    low, high = map(math.log10, x_range) if logarithmic else x_range
    span = (high - low) or 1.0
    wide, tall = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + wide * ((math.log10(value) if logarithmic else value) - low) / span

    def y(value: float) -> float:
        return top + tall * (1 - value / (y_most or 1.0))

    return _Frame(x, y, top + tall)


def _axes(
    frame: _Frame, x_ticks: Sequence[Tick], y_ticks: Sequence[Tick], x_label: str, y_label: str
) -> Markup:
    parts: list[Markup] = []
    for tick in y_ticks:
        y = frame.y(tick.at)
        parts += [_line(_LEFT, y, WIDTH - _RIGHT, y, "grid", _GRID),
                  _words(_LEFT - 6, y + 4, tick.label, anchor="end", quiet=True)]  # fmt: skip
    for tick in x_ticks:
        x = frame.x(tick.at)
        parts += [
            _line(x, frame.bottom, x, frame.bottom + 5, "axis", _QUIET),
            _words(x, frame.bottom + 19, tick.label, anchor="middle", quiet=True),
        ]
    parts += [
        _line(_LEFT, frame.bottom, WIDTH - _RIGHT, frame.bottom, "axis", _QUIET),
        _words((_LEFT + WIDTH - _RIGHT) / 2, frame.bottom + 40, x_label, anchor="middle"),
        _words(4, 12, y_label),
    ]
    return joined(*parts)


def _mark(frame: _Frame, mark: Mark, number: int) -> Markup:
    """The label stands right of its line, which begins beside it: the lines further right begin
    lower, so that no label is crossed. Where there is no room it stands left."""
    x = frame.x(mark.at)
    top = 4 + _MARK_STEP * (number + 1)
    fits = x + _CHAR_WIDTH * len(mark.label) < WIDTH
    words = _words(x + (4 if fits else -4), top + 10, mark.label,
                   anchor="start" if fits else "end", kind="words halo")  # fmt: skip
    return joined(_line(x, top, x, frame.bottom, "mark", _INK, dash="4 3"), words)


def _legend(series: Sequence[Series]) -> Markup:
    """In the upper right corner, above the lines."""
    parts: list[Markup] = []
    right: float = WIDTH - _RIGHT
    for number, one in reversed(list(enumerate(series))):
        left = right - _CHAR_WIDTH * len(one.label)
        parts += [
            _words(right, 12, one.label, anchor="end"),
            element("line", {"class": f"line s{number}", "stroke": _SERIES[number],
                             "stroke_width": 2.2, "stroke_dasharray": _DASHES[number],
                             "x1": f"{left - 24:.1f}", "x2": f"{left - 5:.1f}", "y1": 8, "y2": 8}),
        ]  # fmt: skip
        right = left - 38
    return joined(*parts)


def _line(
    x1: float, y1: float, x2: float, y2: float, kind: str, colour: str, dash: str | None = None
) -> Markup:
    return element("line", {
        "class": kind, "stroke": colour, "stroke_width": 1, "stroke_dasharray": dash,
        "x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}",
    })  # fmt: skip


def _words(
    x: float, y: float, words: str, *, anchor: str = "start", quiet: bool = False, kind: str = ""
) -> Markup:
    return element("text", {
        "class": kind or ("words quiet" if quiet else "words"), "fill": _QUIET if quiet else _INK,
        "x": f"{x:.1f}", "y": f"{y:.1f}", "text_anchor": None if anchor == "start" else anchor,
    }, words)  # fmt: skip


def _drawing(told: Told, height: float, *parts: object) -> Markup:
    name = told.name
    return element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {height:g}",
            "role": "img", "aria_labelledby": f"{name}-title {name}-description",
            "font_family": _FONT, "font_size": 13,
        },
        element("title", {"id": f"{name}-title"}, told.title),
        element("desc", {"id": f"{name}-description"}, told.description),
        *parts,
    )  # fmt: skip
