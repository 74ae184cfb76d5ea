"""The command ``supple``, in this process and in workers of it."""

from __future__ import annotations

import sys
from pathlib import Path

from . import _core


def command_words() -> list[str]:
    """What starts the command line in another process, wherever this package was found."""
    home = str(Path(__file__).parent.parent)
    return [sys.executable, "-c", f"import sys; sys.path.insert(0, {home!r}); import supple._command as c; c.main()"]


def main() -> None:
    """Runs the command line with the words of ``sys.argv`` and ends the process with its exit code."""
    sys.exit(_core.command_line(sys.argv[1:], command_words()))
