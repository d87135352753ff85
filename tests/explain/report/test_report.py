"""The page as text: what stands in it, what does not, and what is refused."""

import base64
import gzip
import json
import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import arboretum as arb
from arboretum import report
from arboretum.errors import DataError, ParameterError
from arboretum.explain.report.page import as_json
from tests.explain.report.report_models import FAMILIES, fitted, new_rows, table
from tests.io.test_hostile import rewritten


def parts(page):
    """Return the two blocks of data of a page."""
    payload = re.search(
        r'<script id="payload" type="application/json">(.*?)</script>', page.html, re.S
    )
    model = re.search(r'<script id="model" type="text/plain">(.*?)</script>', page.html, re.S)
    return json.loads(payload[1]), json.loads(gzip.decompress(base64.b64decode(model[1])))


def made(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return report(fitted(name), *new_rows(name), **options)


def test_nothing_is_loaded_from_anywhere():
    page = made("XGB").html
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert "@import" not in page
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "navigator.sendBeacon", "importScripts"):
        assert word not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    ("rows", "count"), [("sample", 60), (7, 7), (0, 0), ("none", 0), (10_000, 120)]
)
def test_rows_are_embedded_as_asked(rows, count):
    payload, model = parts(made("XGB numbers", rows=rows))
    assert len(payload["rows"]["x"]) == len(payload["rows"]["actual"]) == count
    if not count:
        assert payload["residuals"]["predicted"] == []
        assert all("each" not in one for one in payload["dependence"])
        assert "proximity" not in payload
        sheets = model["sheets"] or {"nodes": {}}
        assert not any(
            t["header"][:1] == ["row"] for s in sheets["nodes"].values() for t in s["tables"]
        )


def test_the_figures_are_those_of_scikit_learn():
    from sklearn import metrics

    X, y = new_rows("XGB")
    model = fitted("XGB")
    payload, _ = parts(made("XGB"))
    found = {one["name"]: one for one in payload["figures"]}
    share = model.predict_proba(X)
    wanted = {
        "accuracy": metrics.accuracy_score(y, model.predict(X)),
        "balanced accuracy": metrics.balanced_accuracy_score(y, model.predict(X)),
        "ROC AUC": metrics.roc_auc_score(y, share[:, 1]),
        "log loss": metrics.log_loss(y, share),
        "Brier score": metrics.brier_score_loss(y, share[:, 1], pos_label="yes"),
    }
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name]["value"] == pytest.approx(value, rel=1e-12)
        assert found[name]["low"] < value < found[name]["high"]
    confusion = metrics.confusion_matrix(y, model.predict(X))
    assert payload["confusion"] == confusion.tolist()
    curve = payload["class_curves"][0]
    assert curve["ap"] == pytest.approx(metrics.average_precision_score(y == "yes", share[:, 1]))


def test_figures_of_numbers_are_those_of_scikit_learn():
    from sklearn import metrics

    X, y = new_rows("extra trees")
    told = fitted("extra trees").predict(X)
    found = {one["name"]: one["value"] for one in parts(made("extra trees"))[0]["figures"]}
    assert found["R²"] == pytest.approx(metrics.r2_score(y, told))
    assert found["RMSE"] == pytest.approx(metrics.root_mean_squared_error(y, told))
    assert found["MAE"] == pytest.approx(metrics.mean_absolute_error(y, told))


def test_training_rows_stand_beside_and_give_worksheets():
    X, y, *_ = table()
    payload, model = parts(made("CART", train=(X[:260], y[:260])))
    names = [one["name"] for one in payload["figures"]]
    assert [one["name"] for one in payload["train_figures"]] == names
    root = model["sheets"]["nodes"]["0:0"]
    gain = next(one["value"] for one in root["formulas"] if one["name"] == "gain")
    assert gain == pytest.approx(fitted("CART").tree_.gain[0], rel=1e-6)


def test_another_table_gives_no_worksheet():
    _, model = parts(made("CART"))
    assert model["sheets"] is None
    X, y, *_ = table()
    shuffled = np.random.RandomState(0).permutation(260)
    _, model = parts(made("CART", train=(X[:260], y[:260][shuffled])))
    assert model["sheets"]["nodes"] == {}
    assert "not those the model was fitted on" in model["sheets"]["why"]


def test_the_largest_page_that_was_promised_stays_small():
    rng = np.random.RandomState(0)
    X = np.round(rng.normal(size=(3_000, 12)), 4)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.normal(size=3_000)
    model = arb.LGBMRegressor(n_estimators=100, num_leaves=31, verbose=-1).fit(X, y)
    assert sum(tree.n_leaves for tree in model.trees_) > 2_500
    page = model.report(X, y)
    assert len(page.html.encode()) < 1_500_000
    assert len(page._repr_html_()) > len(page.html)


def test_a_report_tells_where_it_is(tmp_path):
    X, y = new_rows("CART")
    page = fitted("CART").report(
        X, y, tmp_path / "model.html", title="Who says yes?", target="answer"
    )
    assert page.path.read_text("utf-8") == page.html
    assert "<title>Who says yes?</title>" in page.html
    assert "model.html" in repr(page)
    assert ".save(path)" in repr(made("CART"))
    assert set(page.seconds) >= {"figures", "curves", "rows", "page"}


def test_a_bar_shows_how_far_it_is(capsys):
    made("CART", progress_bar=True)
    assert "report" in "".join(capsys.readouterr())


def _two_quantiles():
    model = arb.XGBRegressor(
        n_estimators=1, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9]
    )
    return model.fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (
            lambda m, X, y: report(m, X, y, rows="all"),
            ParameterError,
            "'sample', 'none' or a whole number",
        ),
        (lambda m, X, y: report(m, X, y, rows=-1), ParameterError, "rows of report"),
        (lambda m, X, y: report(m, X, y[:-1]), DataError, "one label for each"),
        (lambda m, X, y: report(m, X, np.arange(len(y))), DataError, "no label of y is a class"),
        (lambda m, X, y: report(m, X.drop(columns="age"), y), DataError, "age"),
        (lambda m, X, y: report(arb.CARTClassifier(), X, y), NotFittedError, "call fit on this"),
        (lambda m, X, y: report("model", X, y), ParameterError, "fitted estimator of arboretum"),
        (
            lambda m, X, y: report(_two_quantiles(), [[0.0], [1.0]], [0, 1]),
            ParameterError,
            "fit one quantile",
        ),
    ],
)
def test_bad_input_says_what_to_do(ask, error, says):
    with pytest.raises(error, match=says):
        ask(fitted("CART"), *new_rows("CART"))


def test_data_in_a_page_cannot_end_their_script():
    text = as_json({"</script><!--": "a\u2028b&"})
    assert "<" not in text
    assert json.loads(text) == {"</script><!--": "a\u2028b&"}


@pytest.mark.parametrize("name", FAMILIES)
def test_data_are_json_that_browsers_read(name):
    payload, model = parts(made(name, rows=3))
    assert payload["overview"]["model"] == type(fitted(name)).__name__
    assert len(payload["columns"]) == 5
    assert len(model["trees"]) == len(payload["trees"]["titles"])


def test_the_overview_tells_how_long_the_fit_took_and_pickles_do_not():
    import pickle

    X, y = new_rows("CART")
    model = arb.CARTClassifier(max_depth=2).fit(X, y)
    assert '"fit_seconds":' in model.report(X, y).html
    again = pickle.loads(pickle.dumps(model))
    assert "_fit_seconds" not in vars(again)
    assert '"fit_seconds":' not in again.report(X, y).html


def test_pairs_say_how_they_were_compared():
    X, y = new_rows("XGB")
    assert '"pairs":{"how":"shap"' in arb.report(fitted("XGB"), X, y).html
    X, y = new_rows("C4.5")
    assert '"pairs":{"how":"dependence"' in arb.report(fitted("C4.5"), X, y).html


def test_figures_beyond_the_range_of_floats():
    """A file may hold leaves that are finite and have no finite squares."""
    X = np.arange(40.0)[:, None]
    model = arb.XGBRegressor(n_estimators=2).fit(X, X[:, 0])

    def damage(state):
        state["trees"]["value"] = np.full_like(state["trees"]["value"], 1e300)

    huge = arb.load(rewritten(model, damage))
    with np.errstate(all="ignore"), pytest.raises(DataError, match="divide the target by a const"):
        report(huge, X, X[:, 0])


@pytest.mark.parametrize(("progress_bar", "told"), [(None, True), (False, False)])
def test_without_a_terminal_lines_tell_how_far_a_report_is(monkeypatch, capsys, progress_bar, told):
    monkeypatch.setattr("arboretum.base.progress._WAIT", 0.0)
    monkeypatch.setattr("arboretum.base.progress._BETWEEN", 0.001)
    made("CART", progress_bar=progress_bar)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("of 11)" in err) == told
    assert ("in all" in err) == told
