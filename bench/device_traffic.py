#!/usr/bin/env python3
"""What a step of a batch of robots moves in a GPU's memory, kernel by kernel, counted on the emulated GPU.

    cmake --build build --target supple_counted
    bench/device_traffic.py diamond.rom.h5 --robots 64

Bytes are those that a kernel has to read and write if caches hold all that it uses and keep nothing for the next kernel;
sectors are what its instructions ask the caches for. What all robots read, the model, is shared out among them: the more
robots, the less of it each. Conflicts: turns in which threads of a warp wait for one bank of the memory that they share.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a file of `supple reduce`")
    parser.add_argument("--robots", type=int, default=64)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--program", default=str(root / "build/engine/supple_counted"))
    parser.add_argument("--csv", help="write the table there too")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        print(f"there is no program '{arguments.program}' (cmake --build build --target supple_counted)", file=sys.stderr)
        return 2
    steps = arguments.steps
    # What every step does: a run twice as long has as much again.
    rows = []
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        for length in (steps, 2 * steps):
            counts = Path(folder, "traffic.csv")
            command = [arguments.program, "run", arguments.model, "--batch", str(arguments.robots), "--device", "cuda:0",
                       "--steps", str(length), "--sweep", "--quiet"]  # fmt: skip
            environment = os.environ | {"SUPPLE_EMULATION": f"now,traffic:{counts}"}
            done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if done.returncode != 0:
                return done.returncode
            with open(counts, encoding="utf-8", newline="") as file:
                rows.append({row["kernel"]: row for row in csv.DictReader(file)})
    table = [line_of(rows[1][kernel], rows[0].get(kernel, {}), steps, arguments.robots) for kernel in rows[1]]
    table = [line for line in table if line[1] > 0]
    table.sort(key=lambda line: -line[3])
    table.append(("in all", *(sum(line[k] for line in table) for k in range(1, len(table[0])))))
    header = ("kernel", "launches", "instructions", "bytes", "asked for", "shared turns", "conflicts")
    print(f"{steps} steps of {arguments.robots} robots; for each robot and step")
    widths = [max(len(header[0]), *(len(line[0]) for line in table)), *(max(12, len(name)) for name in header[1:])]
    for line in (header, *table):
        cells = [line[0].ljust(widths[0])]
        cells += [(cell if isinstance(cell, str) else f"{cell:.4g}").rjust(w) for cell, w in zip(line[1:], widths[1:])]
        print("  ".join(cells))
    if arguments.csv:
        with open(arguments.csv, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *table])
    return 0


def line_of(long: dict[str, str], short: dict[str, str], steps: int, robots: int) -> tuple:
    """Launches are those of a step, all else of a robot and step."""

    def more(column: str) -> int:
        return int(long[column]) - int(short.get(column, 0))

    share = 1 / (steps * robots)
    return (
        name_of(long["kernel"]),
        more("launches") / steps,
        more("instructions") * share,
        (more("read") + more("written")) * share,
        32 * more("sectors") * share,
        more("shared") * share,
        more("conflicts") * share,
    )


def name_of(kernel: str) -> str:
    """The name of the op in the type of a kernel."""
    found = re.search(r"unsigned int, (.*)\)$", kernel)
    return re.sub(r"supple::", "", found.group(1)) if found else kernel


if __name__ == "__main__":
    sys.exit(main())
