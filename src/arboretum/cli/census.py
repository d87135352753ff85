"""A real table for the demo: 1,500 people of a census, with words, numbers and gaps.

A fixed draw of the rows of "Adult" (Becker and Kohavi, 1996, UCI Machine Learning Repository,
https://doi.org/10.24432/C5XW20), which were extracted from the United States' census of 1994. The data are
licensed under Creative Commons Attribution 4.0 (https://creativecommons.org/licenses/by/4.0/). Changes: 1,500
of 32,561 rows in their order, "?" became an empty cell, and the last column is called income.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["PATH", "TARGET"]

PATH = Path(__file__).with_name("census.csv")
TARGET = "income"
