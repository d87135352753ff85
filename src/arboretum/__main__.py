"""``python -m arboretum`` is the `arboretum` command."""

import sys

from arboretum.cli import main

if __name__ == "__main__":
    sys.exit(main())
