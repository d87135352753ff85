"""Benchmarks: arboretum and its peers side by side on the same data.

    python -m benchmarks cart            the whole comparison
    python -m benchmarks c45             the same for C4.5
    python -m benchmarks forest          the same for forests, proximity and imputation
    python -m benchmarks gbm             the same for gradient boosting
    python -m benchmarks adaboost        AdaBoost
    python -m benchmarks boosting        XGBoost's and LightGBM's ways; --phases: where the time goes
    python -m benchmarks goals           every case that has a goal, in one table
    python -m benchmarks latency         1, 10 and 1,000 rows at a time: percentiles
    python -m benchmarks real            every model on real tables; --models, --case: some of them
    python -m benchmarks scale           streamed tables; --rows: another size
    python -m benchmarks.scale_clusters  Dask and Ray beside the peers; --rows, --trees, --only
    python -m benchmarks startup         first fits: from source, from a wheel, warm
    python -m benchmarks cart --quick    small sizes, a minute or two
    python -m benchmarks cart --case iris predict

A benchmark is a module with ``experiments(jobs)``: named experiments of eight kinds.

    harness.Case        contenders timed in turns, scored on held-out data, peak memory   harness.py
    scaling.Curve       fit time over rows or columns                                     scaling.py
    startup.StartUp     imports and first fits in fresh processes                         startup.py
    cold_start.ColdStart   the first fit of an estimator from source, from a wheel, warm   cold_start.py
    latency.Latency     calls for a few rows, in turns: percentiles                       latency.py
    shap.ShapExperiment SHAP values of the same trees: nanoseconds per row and tree       shap.py
    scale.Scale         large files, each contender in a process of its own              scale.py
    real.RealCase       all models and their peers on one real table                      real.py

Every experiment measures itself and returns a result; report.py prints tables and writes JSON,
plots.py draws. Times of one machine on one day only mean something against each other, so speed is
always given as a ratio of runs that took turns.
"""

__all__ = ["BENCHMARKS"]

# name on the command line -> module; a new family of models joins with one line
BENCHMARKS = {
    "cart": "benchmarks.cart",
    "c45": "benchmarks.c45",
    "forest": "benchmarks.forest",
    "adaboost": "benchmarks.adaboost",
    "gbm": "benchmarks.gbm",
    "goals": "benchmarks.goals",
    "boosting": "benchmarks.boosting",
    "latency": "benchmarks.latency",
    "real": "benchmarks.real",
    "scale": "benchmarks.scale",
    "shap": "benchmarks.shap",
    "startup": "benchmarks.cold_start",
}
