"""The ways to damage a model file are those of tests/io/test_fuzz.py."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "io"))
