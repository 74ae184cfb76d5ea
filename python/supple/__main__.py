"""``python -m supple``: the command line."""

from ._command import main

main()
