"""Replace scikit-learn, XGBoost and LightGBM by arboretum in the imports of a script, and nothing else.

python -m tests.scripts.replace_imports script.py > replaced.py

from sklearn import datasets, tree            from sklearn import datasets
                                       ──►    from arboretum import tree
from sklearn.ensemble import Stacking…        from arboretum.ensemble import Stacking…
import xgboost as xgb                         import arboretum as xgb
"""

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["replace_imports"]

# Module of a peer -> the module of arboretum that has its names.
REPLACED = {
    "sklearn.tree": "arboretum.tree",
    "sklearn.ensemble": "arboretum.ensemble",
    "sklearn.inspection": "arboretum.inspection",
    "xgboost": "arboretum",
    "xgboost.sklearn": "arboretum",
    "xgboost.callback": "arboretum.callback",
    "lightgbm": "arboretum",
    "lightgbm.sklearn": "arboretum",
    "lightgbm.callback": "arboretum.callback",
    "lightgbm.plotting": "arboretum",
}


def replace_imports(source: str) -> str:
    """Return the source of a script with arboretum's modules in place of the peers'."""
    lines = source.splitlines()
    statements = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    for node in sorted(statements, key=lambda node: -node.lineno):
        new = _replaced(node)
        if new != [node]:
            indent = " " * node.col_offset
            lines[node.lineno - 1 : node.end_lineno] = [indent + ast.unparse(one) for one in new]
    return "\n".join(lines) + "\n"


def _replaced(node: ast.Import | ast.ImportFrom) -> Sequence[ast.stmt]:
    if isinstance(node, ast.Import):
        return (
            [_replaced_module(node, name) for name in node.names] if _names_peer(node) else [node]
        )
    module = node.module or ""
    if module in REPLACED:
        return [ast.ImportFrom(REPLACED[module], node.names, 0)]
    ours = [name for name in node.names if f"{module}.{name.name}" in REPLACED]
    theirs = [name for name in node.names if name not in ours]
    if not ours:
        return [node]
    kept = [ast.ImportFrom(module, theirs, 0)] if theirs else []
    return [*kept, ast.ImportFrom("arboretum", ours, 0)]


def _names_peer(node: ast.Import) -> bool:
    return any(name.name in REPLACED for name in node.names)


def _replaced_module(node: ast.Import, name: ast.alias) -> ast.Import:
    """Return the import of one module; scripts go on using the name that they gave it."""
    if name.name not in REPLACED:
        return ast.Import([name])
    if name.asname is None and "." in name.name:
        raise ValueError(
            f"line {node.lineno}: `import {name.name}` also binds its package: "
            f"write `import {name.name} as …`"
        )
    return ast.Import([ast.alias(REPLACED[name.name], name.asname or name.name)])


if __name__ == "__main__":
    sys.stdout.write(replace_imports(Path(sys.argv[1]).read_text(encoding="utf-8")))
