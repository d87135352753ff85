"""The step of a leaf of Friedman's boosting, by the textbook's losses (`gbm_losses`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.boosting.loss.leaves import Leaves
from arboretum.explain.worksheet.families.friedman.replay import FriedmanReplay
from arboretum.explain.worksheet.family import class_names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula
from arboretum.textbook import gbm_losses

__all__ = ["step_formulas"]


def step_formulas(replay: FriedmanReplay, t: int, leaf: int) -> list[Formula]:
    """Return how far a leaf goes, and by how much F moves."""
    model, (m, k) = replay.model, divmod(t, replay.width)
    played, rows = replay.played(m), replay.tree_of(t).rows_of(leaf)
    kept, rate = (
        float(replay.trees[t].value[leaf, 0, 0]),
        float(replay.family.anatomy.history.figures["rate"][m]),
    )
    last = Formula("step the model keeps", "", "", kept)
    if not len(rows):
        return [last]
    mean = float(np.average(played.residuals[rows, k], weights=played.weight[rows]))
    if model.step == "line_search":
        eta = float(model.step_lengths_[m])
        rule, numbers = "η · mean residual, one η for the round", f"{number(eta)} · {signed(mean)}"
        found = [Formula("step", rule, numbers, eta * mean)]
    elif model.step == "gradient":
        found = [Formula("step", "mean residual", "", mean)]
    else:
        found = [_best_step(replay, m, rows, k)]
    found.append(last)
    if model.monotonic_cst is not None and abs(found[0].value - kept) > 1e-12 * (1 + abs(kept)):
        rule = "steps of leaves that a monotone constraint orders"
        found.append(Formula("kept in order", rule, "", kept))
    numbers = f"{number(rate)} · {signed(kept)}"
    return [*found, Formula("F moves by", "learning rate · step", numbers, rate * kept)]


def _textbook_loss(replay: FriedmanReplay) -> Any:
    """Return the loss as the textbook has it; None for one of the user's own."""
    model, classes = replay.model, class_names(replay.model)
    if not isinstance(model.loss, str):
        return None
    n = 2 if classes is None else len(classes)
    return gbm_losses.make_loss(model.loss, n, float(model.alpha), float(model.power))


def _best_step(replay: FriedmanReplay, m: int, rows: np.ndarray, k: int) -> Formula:
    """Return the best step of a leaf by the loss, with its numbers."""
    played, loss = replay.played(m), _textbook_loss(replay)
    y, w, F, r = (
        replay.y[rows],
        played.weight[rows],
        replay.shaped(played.F[rows]),
        played.residuals[rows, k],
    )
    if loss is None:
        one = Leaves(np.zeros(len(rows), np.int64), 1, w)
        step = float(played.loss.steps(y, F, r, one, k)[0])
        return Formula("step", "the step of your own loss", f"{len(rows)} rows", step)
    weights = np.ones(len(replay.y)) if replay.w is None else replay.w
    loss = loss.for_round(replay.y, replay.shaped(played.F), weights)
    step = float(np.atleast_1d(loss.step(y, F, w))[k])
    match loss:
        case gbm_losses.NewtonLoss():
            h = np.asarray(loss.hessian(y, F)).reshape(len(rows), -1)[:, k]
            rule, numbers = "Σ w r / Σ w h", f"{number(float(w @ r))} / {number(float(w @ h))}"
            if replay.width > 1:
                K = replay.width
                rule, numbers = f"(K-1)/K · {rule}", f"{K - 1}/{K} · {numbers}"
        case gbm_losses.PowerLoss():
            a = 1 - loss.power
            up, down = float(w @ (y * np.exp(a * F))), float(w @ np.exp((a + 1) * F))
            rule = "ln(Σ w y e^(aF) / Σ w e^((a+1)F))"
            numbers = f"ln({number(up)} / {number(down)})"
        case gbm_losses.Huber():
            middle, delta = gbm_losses.weighted_quantile(y - F, w, 0.5), number(float(loss.delta))
            rule = f"median of y - F + mean of the rest cut at ±δ, δ = {delta}"
            numbers = f"{number(middle)} + {signed(step - middle)}"
        case gbm_losses.SquaredError():
            rule = "Σ w (y - F) / Σ w"
            numbers = f"{number(float(w @ (y - F)))} / {number(float(w.sum()))}"
        case _:
            share = loss.alpha if isinstance(loss, gbm_losses.Quantile) else 0.5
            rule = f"weighted {number(float(share))}-quantile of y - F"
            numbers = f"of {len(rows)} rows"
    return Formula("step", rule, numbers, step)
