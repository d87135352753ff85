"""Links of losses: see predict/link.py."""

from arboretum.predict.link import Link, probability, softmax

__all__ = ["Link", "probability", "softmax"]
