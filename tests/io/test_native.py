"""Estimators survive the file; files that hold no estimator say so.

Random trees and a small estimator around them stand in for whatever arboretum's estimators grow, so
that every kind of node, value and parameter passes through a file.
"""

import io
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import arboretum
from arboretum import __version__
from arboretum.data.schema import Column, Schema
from arboretum.errors import ModelFileError, ParameterError
from arboretum.io import native
from arboretum.io.container import read, write
from arboretum.io.native import load, save
from arboretum.structure.state import tree_from_state, tree_to_state
from arboretum.structure.tree import LEAF, MULTIWAY, SUBSET, THRESHOLD, Surrogates, Tree

SCHEMA = Schema(
    columns=(
        Column("Größe", "numeric", None, True, "float64"),
        Column("day", "numeric", None, False, "datetime"),
        Column("city", "categorical", tuple(f"city {i}" for i in range(40)), True, "str"),
        Column("size", "ordinal", ("S", "M", "L"), False, "category"),
        Column("outlook", "categorical", ("overcast", "rain", "sunny"), True, "str"),
    ),
    named=True,
)


def random_question(rng: np.random.Generator, bits: list[int]) -> tuple[int, int, float, int]:
    """Return kind, feature, threshold and bits_start of a random question; may add to `bits`."""
    feature = int(rng.integers(len(SCHEMA.columns)))
    column = SCHEMA.columns[feature]
    if column.kind == "numeric":
        return THRESHOLD, feature, float(rng.normal()), -1
    if column.kind == "ordinal":
        return THRESHOLD, feature, float(rng.integers(len(column.categories) - 1)), -1
    start = len(bits)
    bits.extend(rng.integers(2**32, size=(len(column.categories) + 31) // 32).tolist())
    return SUBSET, feature, np.nan, start


def random_tree(rng: np.random.Generator, n_splits: int, surrogates: bool = True) -> Tree:
    """Grow a tree at random, level by level, with every kind of node."""
    nodes: list[list] = []  # kind, feature, threshold, bits_start, first_child, n_children, missing
    bits: list[int] = []
    stand_ins: list[list] = []
    start = [0]
    n_nodes = 1
    while len(nodes) < n_nodes:
        if n_splits == 0:
            nodes.append([LEAF, -1, np.nan, -1, -1, 0, -1])
        else:
            n_splits -= 1
            kind, feature, threshold, bits_start = random_question(rng, bits)
            size = 2
            if kind == SUBSET and rng.random() < 0.5 and feature == 4:
                kind, bits_start, size = MULTIWAY, -1, 3
            missing = int(rng.integers(size))
            if kind == THRESHOLD and rng.random() < 0.2:
                threshold, missing = np.inf, 1
            nodes.append([kind, feature, threshold, bits_start, n_nodes, size, missing])
            n_nodes += size
            if kind != MULTIWAY and surrogates:
                for _ in range(rng.integers(3)):
                    stand_ins.append([*random_question(rng, bits), rng.integers(2), rng.random()])
        start.append(len(stand_ins))
    kind, feature, threshold, bits_start, first, sizes, missing = map(list, zip(*nodes))
    s = list(map(list, zip(*stand_ins))) or [[]] * 6
    return Tree(
        kind=np.array(kind, dtype=np.uint8),
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        first_child=np.array(first, dtype=np.int32),
        n_children=np.array(sizes, dtype=np.int32),
        missing_child=np.array(missing, dtype=np.int32),
        bits_start=np.array(bits_start, dtype=np.int64),
        bits=np.array(bits, dtype=np.uint32),
        value=rng.random((n_nodes, 1, 3)),
        impurity=rng.random(n_nodes),
        gain=rng.random(n_nodes),
        weight=rng.random(n_nodes),
        count=rng.integers(100, size=n_nodes),
        schema=SCHEMA,
        surrogates=Surrogates(
            start=np.array(start, dtype=np.int64),
            kind=np.array(s[0], dtype=np.uint8),
            feature=np.array(s[1], dtype=np.int32),
            threshold=np.array(s[2], dtype=np.float64),
            bits_start=np.array(s[3], dtype=np.int64),
            reverse=np.array(s[4], dtype=np.uint8),
            agreement=np.array(s[5], dtype=np.float64),
        )
        if surrogates
        else None,
    )


class RandomTreeClassifier:
    """A classifier that has the three methods of the file protocol, and nothing learned in it."""

    def __init__(self, n_splits=5, weights=None, options=None, random_state=None):
        self.n_splits = n_splits
        self.weights = weights
        self.options = options
        self.random_state = random_state

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in vars(type(self)())}

    def _parameters_of_file(self):
        return self.get_params()

    def fit(self, seed: int, surrogates: bool = True):
        self.schema_ = SCHEMA
        rng = np.random.default_rng(seed)
        self.tree_ = random_tree(rng, self.n_splits, surrogates)
        self.classes_ = np.array(["elm", "oak", "Föhre"])
        return self

    def _get_fitted_state(self) -> dict:
        return {"tree": tree_to_state(self.tree_), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters, schema, state):
        model = cls(**parameters)
        model.schema_ = schema
        model.tree_ = tree_from_state(state["tree"], schema)
        model.classes_ = state["classes"]
        if model.classes_.shape != (model.tree_.value.shape[2],):
            raise ModelFileError("there is not one class per value of the tree")
        return model


@pytest.fixture(autouse=True)
def _known_to_arboretum(monkeypatch):
    monkeypatch.setitem(native.ESTIMATORS, "RandomTreeClassifier", __name__)


def saved(model: object) -> bytes:
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


def rewritten(data: bytes, **changes: object) -> bytes:
    """Return a saved file with entries of its document changed."""
    file = io.BytesIO()
    write(file, {**read(data), **changes})
    return file.getvalue()


# ---------------------------------------------------------------------- there and back
@pytest.mark.parametrize("surrogates", [True, False])
@pytest.mark.parametrize("n_splits", [0, 1, 5, 60])
def test_a_model_comes_back_from_a_path(tmp_path, n_splits, surrogates):
    options = {"a": (1, [2.5, None]), 3: float("inf")}
    model = RandomTreeClassifier(n_splits, np.arange(3), options, np.random.RandomState(3))
    model.fit(0, surrogates)
    path = tmp_path / "Bäume.arb"
    save(model, path)
    again = load(str(path))
    assert type(again) is RandomTreeClassifier
    assert again.schema_ == SCHEMA
    assert again.n_splits == n_splits
    assert again.options == options
    assert again.weights.tolist() == [0, 1, 2]
    assert again.random_state.randint(2**31) == model.random_state.randint(2**31)
    assert again.classes_.tolist() == ["elm", "oak", "Föhre"]
    pairs = [(model.tree_, again.tree_), (model.tree_.surrogates, again.tree_.surrogates)]
    assert (again.tree_.surrogates is None) == (not surrogates)
    for left, right in pairs[: 1 + surrogates]:
        for name, array in vars(left).items():
            if isinstance(array, np.ndarray):
                np.testing.assert_array_equal(array, getattr(right, name), strict=True)
    assert [n.pretty() for n in again.tree_] == [n.pretty() for n in model.tree_]


def test_the_same_model_gives_the_same_bytes():
    data = saved(RandomTreeClassifier(30).fit(5))
    assert saved(RandomTreeClassifier(30).fit(5)) == data
    assert saved(load(data)) == data


def test_the_document_is_the_documented_one():
    document = read(saved(RandomTreeClassifier().fit(0)))
    assert set(document) == {"format", "arboretum", "model", "parameters", "schema", "state"}
    assert document["format"] == 2
    assert document["arboretum"] == __version__
    assert document["model"] == "RandomTreeClassifier"
    assert document["parameters"] == {
        "n_splits": 5,
        "weights": None,
        "options": None,
        "random_state": None,
    }


@pytest.mark.parametrize("notes", [None, {}, {"target": "Größe", "": "a\nb", "$array": "0"}])
def test_notes_come_back(notes):
    file = io.BytesIO()
    save(RandomTreeClassifier().fit(0), file, notes=notes)
    assert load(file.getvalue()).notes_ == (notes or {})
    assert ("notes" in read(file.getvalue())) == bool(notes)


# ---------------------------------------------------------------------- what cannot be saved
@pytest.mark.parametrize(
    "notes", [{"rows": 3}, {3: "rows"}, {"a": {"b": "c"}}, ["target"], [], "target"]
)
def test_notes_that_are_not_strings_are_refused(notes):
    with pytest.raises(ParameterError, match="notes must be a dict of str to str"):
        save(RandomTreeClassifier().fit(0), io.BytesIO(), notes=notes)


def test_an_unfitted_model_has_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError, match=r"RandomTreeClassifier.*call fit first"):
        save(RandomTreeClassifier(), tmp_path / "model.arb")
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_without_a_plain_form_is_named():
    model = RandomTreeClassifier(options={"loss": [abs]}).fit(0)
    message = r"parameter 'options' of RandomTreeClassifier, key 'loss', item 0 cannot be saved nat"
    with pytest.raises(ParameterError, match=message):
        saved(model)


def test_only_estimators_of_arboretum_are_saved():
    class Stranger(RandomTreeClassifier):
        pass

    # a class that borrows a known name could not be found again
    impostor = type("RandomTreeClassifier", (RandomTreeClassifier,), {})
    for model in (Stranger().fit(0), impostor().fit(0), object(), None):
        with pytest.raises(ParameterError, match=r"not an estimator of arboretum.*joblib"):
            saved(model)


# ---------------------------------------------------------------------- what cannot be loaded
@pytest.fixture(scope="module")
def data():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(native.ESTIMATORS, "RandomTreeClassifier", __name__)
        return saved(RandomTreeClassifier().fit(0))


BAD_DOCUMENTS = [
    ({"format": 3}, r"model format 3, written by arboretum '.*and reads up to format 2: upgrade"),
    ({"format": 0}, "model format is missing"),
    ({"format": "1"}, "model format is missing"),
    ({"format": True}, "model format is missing"),
    ({"format": 2**63, "state": 1}, "upgrade"),
    ({"more": 1}, "surplus entries"),
    ({"model": "XGBClassifier9"}, "unknown kind, 'XGBClassifier9'.*upgrade"),
    ({"model": "os.system"}, "unknown kind"),
    ({"model": ["RandomTreeClassifier"]}, "unknown kind"),
    ({"model": None}, "unknown kind"),
    ({"parameters": None}, "not a dictionary"),
    ({"parameters": [1]}, "not a dictionary"),
    ({"parameters": {"$tuple": []}}, "not a dictionary"),
    ({"parameters": {"unknown": 1}}, "is invalid .*unexpected keyword argument 'unknown'"),
    ({"parameters": {"$dict": [[1, 2]]}}, "is invalid .*TypeError"),
    ({"schema": None}, "schema"),
    ({"schema": {}}, "schema"),
    ({"notes": None}, "notes are not a dictionary of strings"),
    ({"notes": {"target": 3}}, "notes are not a dictionary of strings"),
    ({"notes": {"target": {"name": "y"}}}, "notes are not a dictionary of strings"),
    ({"notes": {"$dict": [[1, "y"]]}}, "notes are not a dictionary of strings"),
    ({"state": None}, "not a dictionary"),
    ({"state": {}}, "is invalid .*KeyError: 'tree'"),
    ({"state": {"tree": 3, "classes": 4}}, "the trees are not a dictionary of arrays"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_DOCUMENTS)
def test_a_bad_document_is_refused(data, changes, message):
    with pytest.raises(ModelFileError, match=message):
        load(rewritten(data, **changes))


@pytest.mark.parametrize("key", ["format", "arboretum", "model", "parameters", "schema", "state"])
def test_an_entry_that_is_missing_is_refused(data, key):
    document = read(data)
    del document[key]
    file = io.BytesIO()
    write(file, document)
    with pytest.raises(ModelFileError, match="damaged"):
        load(file.getvalue())


def test_a_tree_that_does_not_fit_its_schema_is_refused(data):
    document = read(data)
    document["schema"]["columns"] = document["schema"]["columns"][:1]
    with pytest.raises(ModelFileError, match=r"node . of the tree splits on a column"):
        load(rewritten(data, schema=document["schema"]))


def test_the_message_names_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(
        ModelFileError, match=r"table\.csv cannot be loaded: it is not an arboretum"
    ):
        load(path)
    with pytest.raises(ModelFileError, match="these bytes cannot be loaded"):
        load(b"")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.arb")


def test_a_file_never_decides_what_is_imported(data, monkeypatch):
    def refuse(name: str) -> None:
        raise AssertionError(f"imported {name}")

    monkeypatch.setattr(native, "import_module", refuse)
    for name in ("antigravity", "os", "arboretum.io.native", "RandomTreeClassifier.__init__"):
        with pytest.raises(ModelFileError, match="unknown kind"):
            load(rewritten(data, model=name))
    assert "antigravity" not in sys.modules


def test_every_registered_estimator_has_the_protocol():
    for name in native.ESTIMATORS:
        found = native._find(name)
        assert native._name_in_files(found) == name
        assert callable(found._from_fitted_state)
        assert callable(found._get_fitted_state)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    model = arboretum.CARTClassifier().fit([[1], [2]], [0, 1])
    with pytest.raises(FileNotFoundError, match=r"the folder '.*nowhere' does not exist") as error:
        model.save(tmp_path / "nowhere" / "x.arb")
    assert error.value.filename.endswith("x.arb")
