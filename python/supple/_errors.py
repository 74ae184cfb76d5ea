"""Exceptions of the engine: what is wrong, where, and what to try."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors that Supple raises itself.

    Attributes:
        problem: what is wrong.
        suggestion: what to try instead.
        file, line, column: where in a text file, counted from 1; "" and 0 where there is no such place.
    """

    def __init__(
        self,
        problem: str,
        suggestion: str = "",
        file: str = "",
        line: int = 0,
        column: int = 0,
        report: str | None = None,
    ) -> None:
        super().__init__(problem, suggestion, file, line, column, report)
        self.problem = problem
        self.suggestion = suggestion
        self.file = file
        self.line = line
        self.column = column
        self._report = report

    def __str__(self) -> str:
        if self._report:
            return self._report.rstrip("\n")
        return f"{self.problem}\n  try: {self.suggestion}" if self.suggestion else self.problem


class InputError(Error, ValueError):
    """A scene, mesh, model, file, array or argument is wrong."""


class RunError(Error, RuntimeError):
    """The computation failed: it diverged, or a model's error exceeds its limit."""


class CapabilityError(Error, RuntimeError):
    """This machine or this build lacks something, such as a GPU."""


class Interrupted(Error, KeyboardInterrupt):
    """Stopped on request; what was done is kept where the message states it."""


for _error in (Error, InputError, RunError, CapabilityError, Interrupted):
    _error.__module__ = "supple"
