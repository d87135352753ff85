"""Rules for kernels that read a few of them."""

from arboretum.engine.depth_first.records import TreeRules
from arboretum.engine.split.score import GINI


def rules(**some) -> TreeRules:
    """Return plain rules, but for some."""
    plain = TreeRules(
        form=0, criterion=GINI, outputs=1, two_classes=False, max_features=9, max_depth=9,
        max_leaves=0, min_split=2, min_leaf=1, min_weight=0, unit_weights=False, whole_weights=True,
        weight_step=1.0, min_decrease=0.0, gain_unit=1.0, bounded=False, regrid=False,
        exhaustive=10, rounds=50, charge=0.0, loner=0.0,
    )  # fmt: skip
    return plain._replace(**some)
