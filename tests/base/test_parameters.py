"""Declared parameters: every one of every estimator has a rule and a sentence, and is documented."""

import inspect
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import arboretum
from arboretum.base import parameters as p
from arboretum.base.parameters import Declared, Parameter, described
from arboretum.errors import ParameterError

ALL = [getattr(arboretum, name) for name in arboretum.ESTIMATORS]


class Model(Declared, BaseEstimator):
    """A model.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]
    """

    _parameters: ClassVar = {
        "rate": Parameter(p.real(0, 1) | p.one_of("auto", None), "How far. " * 20),
        "kind": Parameter(p.one_of("a", "b"), "Which."),
        "unused": Parameter(p.flag),
    }
    _attributes: ClassVar = {"done_ : int": "How much."}
    _aliases: ClassVar = {"eta": "rate"}

    def __init__(self, rate=0.5, *, kind="a"):
        p.take_arguments(locals())


@pytest.mark.parametrize("owner", ALL, ids=lambda owner: owner.__name__)
def test_every_parameter_is_declared_and_documented(owner):
    documented = inspect.getdoc(owner)
    for name, argument in inspect.signature(owner).parameters.items():
        if argument.kind is argument.VAR_KEYWORD:  # other names
            continue
        assert name in owner._parameters, name
        assert f"\n{name} : " in documented, name
        assert f"default={p_shown(argument.default)}" in documented, name
    assert "[parameters]" not in documented
    assert "[attributes]" not in documented


def p_shown(value) -> str:
    from arboretum.base.parameters import _shown

    return _shown(value)


@pytest.mark.parametrize("owner", ALL, ids=lambda owner: owner.__name__)
def test_defaults_keep_their_own_rules(owner):
    owner()._check_parameters()


@pytest.mark.parametrize("owner", ALL, ids=lambda owner: owner.__name__)
def test_columns_are_named_alike_everywhere(owner):
    """A table of words is described to every estimator by the same three parameters."""
    known = set(owner._get_param_names())
    assert {"categorical_features", "ordinal_features", "unseen"} <= known


def test_the_text_is_wrapped_and_types_lose_their_articles():
    lines = Model.__doc__.splitlines()
    assert 'rate : number in [0, 1] or "auto" or None, default=0.5' in lines
    assert max(map(len, lines)) <= 100
    assert 'kind : "a" or "b", default="a"' in lines
    assert "done_ : int" in lines
    assert not any("unused" in line for line in lines)


def test_arguments_become_attributes():
    assert Model(0.25, kind="b").get_params() == {"rate": 0.25, "kind": "b"}
    assert vars(Model()) == {"rate": 0.5, "kind": "a"}


def test_other_names_are_translated_once():
    assert Model(eta=0.1).rate == 0.1
    assert Model().set_params(eta="auto").rate == "auto"
    with pytest.raises(ParameterError, match="rate and eta of Model are one parameter"):
        Model(rate=0.1, eta=0.2)


def test_unknown_names_are_refused_with_a_suggestion():
    with pytest.raises(ParameterError, match="Model has no parameter 'kin': did you mean 'kind'"):
        Model(kin="a")
    with pytest.raises(ParameterError, match="no parameter 'zzz': it has kind, rate"):
        Model().set_params(zzz=1)


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "no", True, 10**400])
def test_broken_rules_are_told_when_they_are_checked(rate):
    model = Model(rate=rate)
    with pytest.raises(
        ParameterError, match=r"'rate' parameter of Model must be a number in \[0, 1\] or 'auto'"
    ):
        model._check_parameters()


@pytest.mark.parametrize(
    "kind",
    [
        arboretum.RandomForestClassifier,
        arboretum.XGBClassifier,
        arboretum.LGBMClassifier,
        arboretum.GradientBoostingRegressor,
    ],
)
def test_a_subclass_may_hand_its_arguments_on(kind):
    class Mine(kind):
        def __init__(self, extra=1, **others):
            super().__init__(**others)
            self.extra = extra

    model = Mine(n_estimators=3, extra=5)
    assert (model.n_estimators, model.get_params()["n_estimators"], model.extra) == (3, 3, 5)
    copy = clone(model)
    assert (copy.n_estimators, copy.extra) == (3, 5)
    if hasattr(kind, "_passed"):  # names of libraries that only warn
        with pytest.warns(UserWarning, match="n_trees has no effect"):
            Mine(n_trees=3)
    else:
        with pytest.raises(arboretum.ParameterError, match="has no parameter 'n_trees'"):
            Mine(n_trees=3)
    with pytest.raises(arboretum.ParameterError, match="'n_estimators' parameter of Mine must be"):
        Mine(n_estimators=-3).fit([[0.0], [1.0]], [0, 1])


PUBLIC = {name: getattr(arboretum, name) for name in arboretum.__all__}
TEXT = """A model.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> for number in range(2):
    ...     print(number)
    """


@pytest.mark.parametrize("name", [name for name, found in PUBLIC.items() if inspect.isclass(found)])
def test_no_public_class_shows_a_place_that_was_not_filled(name):
    assert "[parameters]" not in (PUBLIC[name].__doc__ or "")
    assert "[attributes]" not in (PUBLIC[name].__doc__ or "")


@pytest.mark.parametrize("text", [TEXT, inspect.cleandoc(TEXT)], ids=["indented", "dedented"])
def test_the_compiler_may_dedent_docstrings(text):
    owner = SimpleNamespace(__doc__=text, _attributes={"done_ : int": "How much.", "n_ : int": ""})
    owner.__init__ = lambda self: None
    assert described(owner).splitlines()[6:] == [
        "Attributes",
        "----------",
        "done_ : int",
        "    How much.",
        "n_ : int",
        "",
        "Examples",
        "--------",
        ">>> for number in range(2):",
        "...     print(number)",
    ]
