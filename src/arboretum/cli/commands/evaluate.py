"""`arboretum evaluate`: the quality of a model on a data file."""

from __future__ import annotations

from pathlib import Path

from arboretum.cli.files import features_of, load_model
from arboretum.cli.problem import Problem, split_again, target_of
from arboretum.cli.reading import Reading, read_like
from arboretum.cli.scores import is_classifier, print_scores, score
from arboretum.cli.screen import plural, print_note, working

__all__ = ["evaluate"]


def evaluate(
    model_file: Path,
    data_file: Path,
    target: str | None,
    weight: str | None,
    reading: Reading | None = None,
) -> None:
    """Run the command.

    Parameters
    ----------
    target, weight : str or None
        Columns; without a target, the column the model was trained to predict.
    """
    model = load_model(model_file)
    target = target_of(model, model_file, target)
    data = read_like(model, data_file, reading)
    task = "classification" if is_classifier(model) else "regression"
    problem = Problem.of(data, task, target, weight)
    parts, which = split_again(model, problem), "row"
    if parts is not None:
        training, problem = parts
        which = "held-out row"
        print_note(
            f"{data.path} is the training file: only its {problem.n_rows:,} held-out rows (--test-size) are "
            f"scored, not the {training.n_rows:,} training rows"
        )
    trained_weight = {model.notes_["weight"]} if "weight" in model.notes_ else set()
    features = features_of(model, problem.features, known=trained_weight)
    with working(f"predicting {plural(problem.n_rows, 'row')}"):
        scores = score(model, features, problem.y, problem.weight)
    name = type(model).__name__
    weighted = f", weighted by {weight}" if weight else ""
    print_scores(scores, f"{name} on {plural(problem.n_rows, which)} of {data.path}{weighted}")
