"""The first fit of a fresh process: ``python benchmarks/first_fit.py XGBClassifier`` prints its figures
as JSON.

Run by cold_start.py, by its path and with nothing else of this folder imported. ``scikit-learn`` in front
of the name of one of its classes fits that instead.
"""

import inspect
import json
import sys
import time

start = time.process_time(), time.perf_counter()


def fit(cls, name: str) -> None:
    """Fit and predict 500 rows of 10 columns, two classes, or what the kind of model asks for."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=500) > 0).astype(int)
    if name == "ID3Classifier":
        X = np.where(X > 0, "more", "less")
    arguments = {"n_estimators": 10} if "n_estimators" in inspect.signature(cls).parameters else {}
    if name.startswith(("Stacking", "Voting")):
        import arboretum

        member = "CARTClassifier" if name.endswith("Classifier") else "CARTRegressor"
        arguments["estimators"] = [("tree", getattr(arboretum, member)())]
    model = cls(**arguments)
    if name.endswith("Ranker"):
        model.fit(X, y, group=np.full(50, 10))
    else:
        model.fit(X, y)
    model.predict(X) if hasattr(model, "predict") else model.transform(X)


def main() -> None:
    """Import, fit, and print how long both took and what was compiled."""
    *package, name = sys.argv[1:]
    if package:
        from sklearn import ensemble, tree

        cls = getattr(tree, name, None) or getattr(ensemble, name)
    else:
        import arboretum

        cls = getattr(arboretum, name)
    imported = time.process_time()
    fit(cls, name)
    done = time.process_time(), time.perf_counter()
    figures = {
        "import": imported - start[0],
        "fit": done[0] - imported,
        "total": done[0] - start[0],
        "elapsed": done[1] - start[1],
        "compiled": 0,
    }
    if not package:
        from arboretum.engine.compiler.cache import compiled

        figures["compiled"] = compiled.n_kernels
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
