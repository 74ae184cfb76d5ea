"""``python -m supple`` and the command ``supple``: the same program as the one in C++."""

from __future__ import annotations

import sys

from . import _core


def main() -> int:
    """Runs the command line and returns its exit code."""
    return _core.command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
