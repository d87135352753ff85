"""Pictures of a report: bars for cases, curves for scaling, bars for start-up, dots for real tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.real_plot import draw_tables
from benchmarks.report import Report
from benchmarks.scaling import REFERENCES, CurveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from benchmarks.harness import CaseResult
    from benchmarks.startup import StartUpResult

__all__ = ["write_plots"]

_OURS, _PEER, _GOAL = "#2a7f4f", "#b0b0b0", "#c44e52"


def _figure(n_columns: int, width: float, height: float) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure drawn without a screen, whatever backend the user has chosen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, n_columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _log_scale(ax: Axes) -> None:
    """Make the x axis logarithmic with ticks 1, 2, 5, 10, … written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _label(case: CaseResult) -> str:
    return f"{case.name}\n{case.rows:,} rows"


def _draw_speed(ax: Axes, cases: Sequence[CaseResult]) -> None:
    """Draw our ratio with its spread; a red mark is the goal, the grey line the baseline."""
    for k, case in enumerate(cases):
        ours = case.measurements[0].contender
        ratio, (low, high) = case.ratio(ours), case.spread(ours)
        error: Any = [[ratio - low], [high - ratio]]
        ax.barh(k, ratio, height=0.6, color=_OURS, xerr=error, capsize=3, ecolor="black")
        ax.annotate(f"{ratio:.3g}×", (high, k), (5, 0), textcoords="offset points", va="center")
        if case.goal is not None:
            ax.plot([case.goal] * 2, [k - 0.42, k + 0.42], color=_GOAL, linewidth=2)
    ax.axvline(1, color=_PEER)
    _log_scale(ax)
    ax.margins(x=0.12)
    ax.set_yticks(range(len(cases)), [_label(case) for case in cases])
    ax.invert_yaxis()
    ax.set_xlabel("times as fast as the baseline (log scale); red: goal")


def _draw_memory(ax: Axes, cases: Sequence[CaseResult]) -> None:
    """Draw the peak memory of ours above that of the baseline."""
    for k, case in enumerate(cases):
        pair = (case.measurements[0].contender, _OURS), (case.baseline, _PEER)
        for offset, (contender, colour) in zip((-0.18, 0.18), pair):
            m = case.of(contender)
            if m.peak_bytes is None:  # another program
                continue
            sizes, size = [peak.n_bytes / 1e6 for peak in m.peaks], m.peak_bytes / 1e6
            error: Any = [[size - min(sizes)], [max(sizes) - size]]
            ax.barh(k + offset, size, height=0.34, color=colour, xerr=error, capsize=2)
    _log_scale(ax)
    ax.set_yticks(range(len(cases)), [""] * len(cases))
    ax.invert_yaxis()
    ax.set_xlabel("peak memory, MB (log scale); green: ours, grey: baseline")


def _draw_curve(ax: Axes, curve: CurveResult) -> None:
    """Draw times over sizes, log-log, with the reference through our first point."""
    for (name, seconds), colour in zip(curve.seconds.items(), (_OURS, _PEER)):
        ax.plot(curve.sizes, seconds, "o-", color=colour, label=name)
    grow, first = REFERENCES[curve.reference], next(iter(curve.seconds.values()))[0]
    scale = first / grow(curve.sizes[0])
    line = [scale * grow(n) for n in curve.sizes]
    ax.plot(curve.sizes, line, "--", color=_GOAL, label=f"∝ {curve.reference}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(curve.sizes, [f"{n:,}" for n in curve.sizes], rotation=30)
    ax.minorticks_off()
    ax.set_xlabel(curve.axis)
    ax.set_ylabel("seconds per fit")
    ax.set_title(curve.title)
    ax.legend(frameon=False)


def _draw_start_up(ax: Axes, result: StartUpResult) -> None:
    for k, script in enumerate(result.scripts):
        ax.barh(k, script.median, height=0.6, color=_OURS if script.cold else _PEER)
        text = f"{script.median:.2f} s"
        ax.annotate(text, (script.median, k), (5, 0), textcoords="offset points", va="center")
        if script.goal is not None:
            ax.plot([script.goal] * 2, [k - 0.42, k + 0.42], color=_GOAL, linewidth=2)
    ax.margins(x=0.12)
    ax.set_yticks(range(len(result.scripts)), [script.label for script in result.scripts])
    ax.invert_yaxis()
    ax.set_xlabel("seconds of the whole process; green: empty compile cache; red: goal")


def write_plots(report: Report, folder: Path, stem: str) -> list[Path]:
    """Write one PNG per kind of result and return their paths."""
    figures: dict[str, Figure] = {}
    if report.cases:
        figure, axes = _figure(2, 13, 1.5 + 0.62 * len(report.cases))
        _draw_speed(axes[0], report.cases)
        _draw_memory(axes[1], report.cases)
        figures[stem] = figure
    if report.curves:
        figure, axes = _figure(len(report.curves), 5.2 * len(report.curves), 4.6)
        for ax, curve in zip(axes, report.curves):
            _draw_curve(ax, curve)
        figures[f"{stem}-scaling"] = figure
    for start_up in report.start_ups:
        figure, axes = _figure(1, 10, 1.2 + 0.4 * len(start_up.scripts))
        _draw_start_up(axes[0], start_up)
        figures[f"{stem}-{start_up.name}"] = figure
    if report.tables:
        figures[stem] = draw_tables(report.tables)
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130)
    return paths
