"""What was found on real tables, for people and for programs.

Speed and loss of every model are summed up over tables of numbers, tables with words, and all; then the
tables are named where it does worst. Speed is told with the peer's codes ready made, the stricter way, and
from the same frame; goals are for the former.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.real_models import MODELS
from benchmarks.real_results import (
    EVEN,
    FAR,
    LEAST_ROWS,
    RATIOS,
    Pair,
    Summary,
    TableResult,
    geometric_mean,
    summaries,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["plain_tables", "print_tables"]

_Cell = Callable[[Summary, bool], str]  # a model over a group of tables, held to its goals or not
_Columns = Mapping[str, _Cell]
_GROUPS = {"numbers": False, "words": True, "all": None}
_NAMED = 5  # worst tables that are told by name
_HURT = 0.95  # threads that make a fit this much slower are named


def _times(ratio: float) -> str:
    """Write a ratio of speed.

    Examples
    --------
    >>> _times(12.34), _times(2.0), _times(0.123)
    ('12.3×', '2.0×', '0.12×')
    """
    return f"{ratio:.1f}×" if ratio >= 2 else f"{ratio:.2f}×"


def _verdict(text: str, met: bool) -> str:
    return f"[{'green' if met else 'red'}]{text}[/]"


def _named(found: list[tuple[str, float]], write: Any) -> str:
    return ", ".join(f"{name} {write(ratio)}" for name, ratio in found)


def _loss(ratio: float) -> str:
    return f"{ratio:.3f}"


def _grouped_table(results: Sequence[TableResult], title: str, columns: _Columns) -> Table:
    """Return a table with a section per model and a row per kind of tables."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("model, peer", no_wrap=True)
    table.add_column("tables", no_wrap=True)
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    found = {group: {s.model: s for s in summaries(results, w)} for group, w in _GROUPS.items()}
    for name, model in MODELS.items():
        head = f"[bold]{model.title}[/], {model.peer}"
        for group, by_model in found.items():
            if name in by_model:
                s = by_model[name]
                cells = (write(s, group == "all") for write in columns.values())
                table.add_row(head, f"{group}, {len(s.pairs)}", *cells)
                head = ""
        table.add_section()
    return table


def _mean_of(ratio: str) -> _Cell:
    return lambda s, judged: _times(s.mean(ratio))


def _worst_of(ratio: str) -> _Cell:
    return lambda s, judged: _named(s.worst(ratio), _times)


def _fit(s: Summary, judged: bool) -> str:
    mean, goal = s.mean("fit_speed"), MODELS[s.model].goals[0]
    return _verdict(f"{_times(mean)} (≥ {goal:g})", mean >= goal) if judged else _times(mean)


def _worst_fit(s: Summary, judged: bool) -> str:
    ((name, ratio),) = s.worst("fit_speed")
    least = MODELS[s.model].goals[1]
    if not judged or not least:
        return f"{name} {_times(ratio)}"
    return _verdict(f"{name} {_times(ratio)} (≥ {least:g})", ratio >= least)


_SPEED: _Columns = {
    "fit": _fit,
    "worst fit": _worst_fit,
    "from frame": _mean_of("fit_speed_from_frame"),
    "predict": _mean_of("predict_speed"),
    "worst predict": _worst_of("predict_speed"),
    "from frame ": _mean_of("predict_speed_from_frame"),
    "few rows": _mean_of("predict_few_speed"),
}
_LOSS: _Columns = {
    "loss": lambda s, judged: _loss(s.mean("loss")),
    "worst": lambda s, judged: _named(s.worst("loss"), _loss),
    "better": lambda s, judged: str(s.won),
    "worse": lambda s, judged: str(s.lost),
    f"{FAR:.0%} worse": lambda s, judged: str(len(s.far)),
}


def _worst_table(results: Sequence[TableResult]) -> Table:
    from rich.table import Table

    table = Table(title="Where it is worst", title_justify="left", show_lines=True)
    for heading in ("model, peer", "slowest fits", "slowest predictions",
                    f"loss over {FAR:.0%} above the peer's, {LEAST_ROWS} rows or more"):  # fmt: skip
        table.add_column(heading)
    for s in summaries(results):
        model = MODELS[s.model]
        table.add_row(
            f"[bold]{model.title}[/], {model.peer}",
            _named(s.worst("fit_speed", _NAMED), _times),
            _named(s.worst("predict_speed", _NAMED), _times),
            _named(s.far, _loss) or "none",
        )
    return table


def _thread_lines(results: Sequence[TableResult]) -> list[str]:
    """Return a line per model: how several threads compare with one."""
    lines = []
    for s in summaries(results):
        both = [(t.name, p.threads) for t, p in zip(s.tables, s.pairs) if p.threads is not None]
        if both:
            hurt = sorted((one for one in both if one[1] < _HURT), key=lambda one: one[1])
            mean = _times(geometric_mean(ratio for _, ratio in both))
            slower = f"; slower on {_named(hurt, _times)}" if hurt else ""
            lines.append(f"{MODELS[s.model].title} on several threads: {mean}{slower}")
    return lines


def _cold(pairs: Sequence[Pair]) -> float:
    """Return the seconds by which first fits were longer than later ones, summed."""
    return sum(max(pair.cold - pair.ours.fit, 0.0) for pair in pairs)


def print_tables(results: Sequence[TableResult], console: Console) -> None:
    """Print the summary, the worst tables, threads, and what failed."""
    words = sum(table.words > 0 for table in results)
    console.print(
        f"{len(results)} tables, {words} of them with words; CPU time of one thread; everybody's defaults"
    )
    console.print(_grouped_table(results, "Speed: the peer's time ÷ ours", _SPEED))
    console.print(
        "geometric means, the peer's codes ready made; from frame: its preparation counts too"
    )
    console.print(_grouped_table(results, "Loss: ours ÷ the peer's, below 1 is better", _LOSS))
    console.print(
        "log loss or RMSE; trees, forests and AdaBoost: root of the Brier score. "
        f"better, worse: by more than {EVEN:.1%}; {FAR:.0%} worse: of {LEAST_ROWS} rows or more"
    )
    console.print(_worst_table(results))
    for line in _thread_lines(results):
        console.print(line)
    cold = {MODELS[s.model].title: _cold(s.pairs) for s in summaries(results)}
    told = ", ".join(f"{title} {seconds:.1f} s" for title, seconds in cold.items())
    console.print(f"not counted: compiling or loading at first fits, {told}")
    for table in results:
        for model, error in table.failed.items():
            console.print(f"[red]failed {table.name}, {MODELS[model].title}: {error}[/]")


def plain_tables(results: Sequence[TableResult]) -> dict[str, Any]:
    """Return everything measured, with ratios and summaries, as JSON takes it."""
    tables = []
    for result in results:
        plain = asdict(result)
        for pair, out in zip(result.pairs, plain["pairs"]):
            out["ratios"] = {ratio: getattr(pair, ratio) for ratio in RATIOS}
        tables.append(plain)
    return {
        "tables": tables,
        "summary": {
            group: {s.model: _plain_summary(s) for s in summaries(results, words)}
            for group, words in _GROUPS.items()
        },
    }


def _plain_summary(s: Summary) -> dict[str, Any]:
    return {
        "tables": len(s.pairs),
        "mean": {ratio: s.mean(ratio) for ratio in RATIOS},
        "worst": {ratio: s.worst(ratio, _NAMED) for ratio in RATIOS},
        "better": s.won,
        "worse": s.lost,
        "far_worse": s.far,
    }
