"""The AdaBoost benchmark: its work does what it says."""

import pytest

from benchmarks import adaboost

EXPERIMENTS = adaboost.experiments(2)


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("case", EXPERIMENTS.values(), ids=lambda case: case.name)
def test_every_contender_does_the_work_of_its_case(case):
    split = case.data(120 if case.name == "iris" else 300)
    for make in case.contenders.values():
        model = make().set_params(n_estimators=5)
        job = case.work(lambda model=model: model, split)
        outcome = job.run()
        assert -0.5 < job.score(outcome) <= 1
        assert all(count >= 1 for count in job.facts(outcome).values())


def test_cases_are_of_the_size_that_was_asked_for():
    case = EXPERIMENTS["stumps"]
    assert (case.rows, case.goal) == (100_000, 30.0)
    assert case.data(120).X.shape[1] == 28
    for make in case.contenders.values():
        assert make().n_estimators == 50
    assert EXPERIMENTS["iris"].goal == 1.0
