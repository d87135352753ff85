"""Forty-four faults, seeded one at a time into a copy of the package: do the tests catch them?

    python -m tests.seeded_faults                 # all of them, some minutes of CPU time
    python -m tests.seeded_faults --only shap     # a family, or numbers: 3 17
    python -m tests.seeded_faults --list          # only check that every fault still has its place

Each fault names a file below src/arboretum, a text that occurs in it once, its replacement, and tests of the
fast suite that must fail. A fault whose text is gone is an error: move it to where the formula is now.
Compiled kernels go to a cache of their own, which starts as a copy of the user's, so a fault costs only the
kernels that it changes. The table of the last run is in docs/notes/seeded_faults.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    """One wrong line."""

    family: str
    what: str
    file: str  # below src/arboretum
    old: str  # occurs once
    new: str
    tests: tuple[str, ...]  # below tests; the first that fails ends the run


FAULTS = (
    # ------------------------------------------------------------------ CART
    Fault(
        "cart", "class weights dropped from the sums of two classes",
        "engine/split/statistic.py",
        "v = w * labels[row.id[p], 0]", "v = np.int64(labels[row.id[p], 0])",
        ("engine/split/test_searches.py",),
    ),
    Fault(
        "cart", "variance of a node without the weights",
        "engine/split/statistic.py",
        "spread += w * (v - mean) * (v - mean)", "spread += (v - mean) * (v - mean)",
        ("engine/split/test_statistic.py",),
    ),
    Fault(
        "cart", "entropy: the sides added instead of subtracted",
        "engine/split/score.py",
        "gain += outputs * (xlogx(weight, table) - sides)",
        "gain += outputs * (xlogx(weight, table) + sides)",
        ("engine/split/test_score.py",),
    ),
    Fault(
        "cart", "scan ends one cut early",
        "engine/split/one_sum.py",
        "min(present if missing else present - 1, count - min_leaf)",
        "min(present if missing else present - 1, count - min_leaf - 1)",
        ("engine/split/test_searches.py",),
    ),
    Fault(
        "cart", "of equal cuts of a column the last one wins",
        "engine/split/one_sum.py",
        "if logs is None and not score > best:",
        "if logs is None and not score >= best:",
        ("engine/split/test_searches.py",),
    ),
    Fault(
        "cart", "of equal columns the last one wins",
        "engine/split/best.py",
        "if score > best.score[k] or feature < best.feature[k]:",
        "if score > best.score[k] or feature > best.feature[k]:",
        ("engine/split/test_searches.py",),
    ),
    Fault(
        "cart", "monotone constraints with the wrong sign",
        "engine/split/score.py",
        "if (right - left) * sign < 0.0:", "if (right - left) * sign > 0.0:",
        ("engine/split/test_score.py",),
    ),
    Fault(
        "cart", "categories ordered by sums instead of means",
        "engine/split/categories.py",
        "along += axis[c] * (counter.sums[code, c] / w)", "along += axis[c] * counter.sums[code, c]",
        ("engine/split/test_categories.py",),
    ),
    Fault(
        "cart", "surrogates: rows on the right always agree",
        "engine/split/surrogate.py",
        "same = left + (right_all - right)", "same = left + right_all",
        ("engine/split/test_surrogate.py",),
    ),
    Fault(
        "cart", "pruning: a link divided by the leaves, not by the leaves it saves",
        "structure/pruning.py",
        "(risk[node] - branch_risk[node]) / (branch_leaves[node] - 1)",
        "(risk[node] - branch_risk[node]) / branch_leaves[node]",
        ("cart/test_against_sklearn.py",),
    ),
    Fault(
        "cart", "depth first: one row of the left side missing from its count",
        "engine/depth_first/best_cut.py",
        "if not allowed(here + i + 1, n, left_weight, node_weight, rules):",
        "if not allowed(here + i, n, left_weight, node_weight, rules):",
        ("engine/depth_first/test_best_cut.py",),
    ),
    # ------------------------------------------------------------------ C4.5
    Fault(
        "c45", "split information divided by the known weight",
        "engine/cases/cases.py",
        "info[k] = (bits(total_weight, table) - parts) / total_weight",
        "info[k] = (bits(total_weight, table) - parts) / known",
        ("engine/cases/test_cases.py::test_scan_thresholds",),
    ),
    Fault(
        "c45", "no charge for the number of cuts tried",
        "engine/cases/cases.py",
        "gain[k] = (best - log2(np.float64(tries))) / total_weight", "gain[k] = best / total_weight",
        ("engine/cases/test_cases.py::test_scan_thresholds",),
    ),
    Fault(
        "c45", "pessimistic errors without the half case",
        "engine/cases/error_limit.py",
        "half = wrong + 0.5", "half = wrong",
        ("engine/cases/test_error_limit.py",),
    ),
    Fault(
        "c45", "columns of many values count in the average gain",
        "c45/search.py",
        "counted = admissible & counts[:, None]", "counted = admissible",
        ("c45/test_against_textbook.py",),
    ),
    Fault(
        "c45", "classes of rules ordered by what they get right",
        "c45/rules/ruleset.py",
        "open_rows & covers[c] & (label != c)", "open_rows & covers[c] & (label == c)",
        ("c45/rules/test_rules.py",),
    ),
    # ------------------------------------------------------------------ forests
    Fault(
        "forest", "out-of-bag mean over all trees",
        "predict/out_of_bag.py",
        "np.where(n_answers > 0, n_answers, np.nan)", "np.where(n_answers > 0, len(trees), np.nan)",
        ("forest/test_forest.py::test_out_of_bag_is_the_textbooks",),
    ),
    Fault(
        "forest", "quantile: the weight must exceed the goal, not reach it",
        "engine/predict/leaf_quantile.py",
        "if before >= goal:", "if before > goal + 1e-9:",
        ("forest/test_quantiles.py",),
    ),
    Fault(
        "forest", "permutation importance divided by rows instead of weights",
        "forest/importance.py",
        "return added / self.w.sum()", "return added / len(self.w)",
        ("forest/test_importance.py",),
    ),
    Fault(
        "forest", "noise of the infinitesimal jackknife not corrected enough",
        "forest/variance.py",
        "draws / n_trees**2", "draws / n_trees**3",
        ("forest/test_variance.py",),
    ),
    Fault(
        "forest", "proximity divided by all trees, out of bag or not",
        "engine/predict/proximity.py",
        "out[i, j] = counts[j] / _asked(away[i], groups.away, j, mine.shape[1])",
        "out[i, j] = counts[j] / mine.shape[1]",
        ("forest/test_proximity.py",),
    ),
    # ------------------------------------------------------------------ AdaBoost
    Fault(
        "adaboost", "alpha of discrete AdaBoost not halved",
        "boosting/adaboost/formulas.py",
        "weight = learning_rate * log_odds / 2", "weight = learning_rate * log_odds",
        ("boosting/adaboost/test_classifier.py::test_discrete_is_the_textbooks",),
    ),
    Fault(
        "adaboost", "SAMME without log(K - 1)",
        "boosting/adaboost/formulas.py",
        "weight = learning_rate * (log_odds + log_others)", "weight = learning_rate * log_odds",
        ("boosting/adaboost/test_classifier.py::test_samme_is_the_textbooks",),
    ),
    Fault(
        "adaboost", "R2: rows that are right gain weight",
        "boosting/adaboost/formulas.py",
        "learning_rate * (1 - losses)", "learning_rate * losses",
        ("boosting/adaboost/test_regressor.py::test_it_is_the_textbooks",),
    ),
    # ------------------------------------------------------------------ Friedman's boosting
    Fault(
        "friedman", "learning rate forgotten in the sum",
        "boosting/friedman/fitting.py",
        "line += (task.learning_rate * one.tree.value[:, 0, 0])[one.leaf_of_row]",
        "line += one.tree.value[:, 0, 0][one.leaf_of_row]",
        ("boosting/friedman/test_gradient_boosting.py::test_the_engine_is_the_textbook",),
    ),
    Fault(
        "friedman", "Newton step of several classes without (K - 1) / K",
        "boosting/loss/classes.py",
        "return (self.n_classes - 1) / self.n_classes * leaves.newton(r, p * (1 - p))",
        "return leaves.newton(r, p * (1 - p))",
        ("boosting/loss/test_loss.py::test_friedmans_formulas_are_the_textbooks",),
    ),
    Fault(
        "friedman", "prior of classes smoothed",
        "boosting/loss/classes.py",
        "return sums.totals(w, codes, n_classes) / sums.total(w)",
        "return (sums.totals(w, codes, n_classes) + 1.0) / (sums.total(w) + n_classes)",
        ("boosting/friedman/test_gradient_boosting.py::test_starts_are_scikit_learns",),
    ),
    Fault(
        "friedman", "quantile of a leaf one place too high",
        "data/quantile.py",
        "place = int(np.ceil(alpha * n)) - 1", "place = min(int(alpha * n), n - 1)",
        ("data/test_quantile.py",),
    ),
    # ------------------------------------------------------------------ XGBoost, LightGBM
    Fault(
        "xgboost", "leaf values with the wrong sign",
        "engine/second_order/score.py",
        "b = -_soft(g, rules.l1) / curvature", "b = _soft(g, rules.l1) / curvature",
        ("engine/second_order/test_score.py",),
    ),
    Fault(
        "xgboost", "min_child_weight must be exceeded",
        "engine/second_order/score.py",
        "return gain if (c >= least) & (e >= least) else -np.inf",
        "return gain if (c > least) & (e > least) else -np.inf",
        ("engine/second_order/test_score.py",),
    ),
    Fault(
        "xgboost", "the cut that parts missing values off is not tried",
        "engine/second_order/numbers.py",
        "cuts = n if missing and not side else n - 1", "cuts = n - 1",
        ("engine/second_order/test_split.py", "engine/second_order/test_numbers.py"),
    ),
    Fault(
        "xgboost", "curvatures without the weights of rows",
        "engine/second_order/loss.py",
        "h[i] *= weight[i]", "h[i] *= 1.0",
        ("boosting/loss/test_objective.py",),
    ),
    Fault(
        "xgboost", "DART: dropped trees keep too much",
        "boosting/second_order/dart.py",
        "return 1.0 / (k + eta), k / (k + eta)", "return 1.0 / (k + eta), k / (k + 1.0)",
        ("boosting/second_order/test_booster.py::test_dart_shares_add_up_as_published",),
    ),
    Fault(
        "lightgbm", "GOSS: drawn rows stand for all rows, not for the rest",
        "boosting/second_order/draws.py",
        "factor[drawn] = n_rest / max(n_drawn, 1)", "factor[drawn] = n / max(n_drawn, 1)",
        ("boosting/second_order/test_draws.py",),
    ),
    Fault(
        "lightgbm", "categories: half of them rounded down",
        "engine/second_order/categories.py",
        "longest = min(rules.max_cat_threshold, (used + 1) // 2)",
        "longest = min(rules.max_cat_threshold, used // 2)",
        ("engine/second_order/test_categories.py",),
    ),
    # ------------------------------------------------------------------ rows in shards
    Fault(
        "shards", "rows are rounded by their places in a shard",
        "engine/second_order/pack.py",
        "entries[i] = _entry(i, i + shift,", "entries[i] = _entry(i, i,",
        ("engine/second_order/test_shard.py",),
    ),
    Fault(
        "shards", "a node divided in vain loses its rows' sums",
        "engine/second_order/batch.py",
        "if left >= 0 and leaf_of_node[left] < 0:", "if left >= 0 and leaf_of_node[left] < -1:",
        ("engine/second_order/test_batch.py",),
    ),
    Fault(
        "shards", "a shard that was made again has the derivatives of other margins",
        "boosting/second_order/rows.py",
        "self._round, self._before = m, len(self._done)", "self._round, self._before = m, 0",
        ("boosting/second_order/test_sharded.py",),
    ),
    Fault(
        "shards", "drawn rows: the others are not added to the margins",
        "grow/sharded/shard.py",
        "self._tree.leaf_of[others] = self._walk(tree, others)",
        "self._tree.leaf_of[others] = 0",
        ("boosting/second_order/test_sharded.py",),
    ),
    # ------------------------------------------------------------------ predictions, SHAP, metrics, files
    Fault(
        "predict", "a value equal to the threshold goes right",
        "engine/predict/walk.py",
        "return np.int64(x > threshold)", "return np.int64(x >= threshold)",
        ("predict/test_walk.py",),
    ),
    Fault(
        "predict", "missing values take the other side",
        "engine/predict/walk.py",
        "        side = np.int64(tree.missing_child[node])",
        "        side = np.int64(1) - np.int64(tree.missing_child[node])",
        ("predict/test_walk.py",),
    ),
    Fault(
        "shap", "a column asked for twice forgets its first share",
        "engine/shap/edges.py",
        "edges.above[child], edges.share[child] = above, above * part",
        "edges.above[child], edges.share[child] = above, part",
        ("engine/shap/test_edges.py",),
    ),
    Fault(
        "metrics", "weighted mean divided by the number of rows",
        "engine/sums.py",
        "return total(times(x, weight)) / whole if whole > 0 else math.nan",
        "return total(times(x, weight)) / len(x)",
        ("engine/test_sums.py",),
    ),
    Fault(
        "io", "bytes between arrays left out of the checksum that is compared",
        "io/container.py",
        "checksum = zlib.crc32(raw.data, zlib.crc32(gap, checksum))",
        "checksum = zlib.crc32(raw.data, checksum)",
        ("io/test_container.py::test_a_document_comes_back_exactly",),
    ),
)  # fmt: skip


def _copy_package(to: Path) -> Path:
    """Copy the package, and the user's compiled kernels."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "arboretum", to / "src" / "arboretum", ignore=ignored)
    kept = Path(os.environ.get("ARBORETUM_CACHE_DIR", Path.home() / ".cache" / "arboretum"))
    if kept.is_dir():
        shutil.copytree(kept, to / "cache")
    return to / "src"


def _place(source: str, fault: Fault) -> str:
    """Return the source with the fault in it."""
    found = source.count(fault.old)
    if found != 1:
        raise SystemExit(f"{fault.file}: {fault.old!r} occurs {found} times: {fault.what}")
    return source.replace(fault.old, fault.new)


def _is_caught(src: Path, fault: Fault) -> tuple[bool | None, str]:
    """Run the tests of a fault: whether one fails, None if they could not run, and which one or why."""
    environment = {**os.environ, "PYTHONPATH": str(src), "CI": "1"}
    environment["ARBORETUM_CACHE_DIR"] = str(src.parent / "cache")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--no-header",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    ]
    command += [f"tests/{test}" for test in fault.tests]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    if run.returncode == 0:
        return False, ""
    if run.returncode == 1 and failed:
        return True, failed[0].removeprefix("FAILED ").split(" - ")[0].removeprefix("tests/")
    return None, run.stdout[-600:] + run.stderr[-600:]


def main(arguments: list[str] | None = None) -> int:
    """Seed faults and print a table; the exit code is the number of those that nothing caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="families, or numbers of faults")
    parser.add_argument(
        "--list", action="store_true", help="only look for the place of every fault"
    )
    given = parser.parse_args(arguments)
    chosen = [
        (i, fault) for i, fault in enumerate(FAULTS, 1)
        if not given.only or fault.family in given.only or str(i) in given.only
    ]  # fmt: skip
    package = ROOT / "src" / "arboretum"
    for _, fault in chosen:
        _place((package / fault.file).read_text("utf-8"), fault)
    print("| | family | fault | caught by |\n|---|---|---|---|", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        src = _copy_package(Path(folder)) if not given.list else package.parent
        for i, fault in chosen:
            by = ""
            if not given.list:
                path = src / "arboretum" / fault.file
                sound = path.read_text("utf-8")
                path.write_text(_place(sound, fault), "utf-8")
                caught, by = _is_caught(src, fault)
                path.write_text(sound, "utf-8")
                if caught is None:
                    raise SystemExit(f"fault {i}: its tests could not run: {by}")
                missed += not caught
                by = f"`{by}`" if caught else "**not caught**"
            print(f"| {i} | {fault.family} | {fault.what} | {by} |", flush=True)
    if not given.list:
        print(f"\n{len(chosen) - missed} of {len(chosen)} faults caught")
    return missed


if __name__ == "__main__":
    sys.exit(main())
