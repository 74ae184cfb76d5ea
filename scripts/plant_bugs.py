#!/usr/bin/env python3
"""Plants bugs in device code and in what drives it, one at a time, and runs tests on the emulated GPU: each must be caught.

    scripts/plant_bugs.py [BUILD] [--only NAME] [--list]      BUILD: a Release build with tests (default: build)

Sources and BUILD are left as they are: a planted source lies in a folder that is searched first, and only what includes it
is compiled and linked again, beside. Exit code 0: the tests pass without a bug and fail with each; 1: some bug was not
caught (named); 2: a bug could not be planted, because the source has changed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODES = ["now,up,back", "late,down,front", "late,random:1,back"]

FUSED = ("engine", "*BatchFailure.*Fused*/cuda:*BatchSteps.FusedAlgebra*/cuda")
RESIDENT = ("engine", "*BatchSteps.RobotsArePutBackAlone/cuda:*BatchSteps.LeadsAsStepper/cuda:"
            "*BatchFailure.ARobotWithoutAnswer*/cuda")
FACTORS = ("solvers", "*BatchedDense.*/cuda")
OPS = ("kernels", "*/cuda")

# name, file, text, text with the bug, (program, tests)
BUGS = [
    ("no barrier before scratch serves the next robot", "kernels/step/step_ops.hpp",
     "    team.sync();  // the robot before is done with the scratch\n    for (int e = team.rank(); e < r * r;",
     "    for (int e = team.rank(); e < r * r;", FUSED),
    ("no barrier before a factorisation", "kernels/dense/cholesky.hpp",
     "SUPPLE_HD int cholesky_factor(Team team, S* a, int n, int ld) {\n  team.sync();",
     "SUPPLE_HD int cholesky_factor(Team team, S* a, int n, int ld) {", FUSED),
    ("no barrier between a column and what it updates", "kernels/dense/cholesky.hpp",
     "a[i * ld + k] *= inverse;\n    team.sync();", "a[i * ld + k] *= inverse;", FUSED),
    ("no barrier in a substitution", "kernels/dense/cholesky.hpp",
     "      x[c * ldx + i] -= a[k * ld + i] * (x[c * ldx + k] * inverse);\n    }\n    team.sync();",
     "      x[c * ldx + i] -= a[k * ld + i] * (x[c * ldx + k] * inverse);\n    }", FUSED),
    ("a barrier that one thread alone reaches", "kernels/step/step_ops.hpp",
     "    if (factored < r) return;\n    if constexpr (std::is_same_v<S, double>) {\n      cholesky_solve",
     "    if (team.rank() == 0) team.sync();\n    if (factored < r) return;\n"
     "    if constexpr (std::is_same_v<S, double>) {\n      cholesky_solve", FUSED),
    ("no barrier between staged rows and their products", "kernels/elements/block_stiffness.hpp",
     "      Y[at] = y[k];\n    }\n  }\n  team.sync();", "      Y[at] = y[k];\n    }\n  }", OPS),
    ("no barrier between products and the next staged rows", "kernels/elements/block_stiffness.hpp",
     "sums[e * squares + index] = s[e / n][e % n];\n  }\n  team.sync();",
     "sums[e * squares + index] = s[e / n][e % n];\n  }", OPS),
    ("sums are cleared while another robot's are read", "kernels/elements/block_stiffness.hpp",
     "K[i * r + j] += sums[e * squares + index];\n    }\n  }\n  team.sync();",
     "K[i * r + j] += sums[e * squares + index];\n    }\n  }", RESIDENT),
    ("a thread beyond the last index", "kernels/cuda/launch.cuh",
     "if (i < n) op(static_cast<int>(i));", "if (i <= n) op(static_cast<int>(i));", OPS),
    ("device memory is not cleared", "kernels/cuda/memory.cu",
     '  check_cuda(cudaMemset(data, 0, bytes), "clearing GPU memory");\n', "", ("kernels", "*DeviceMemory*/cuda")),
    ("an error of CUDA is kept", "kernels/cuda/check.hpp", "  (void)cudaGetLastError();\n", "",
     ("kernels", "*DeviceMemory*/cuda")),
    ("the host reads device memory", "kernels/array/array.cpp",
     "  copy_cuda(to == cpu() ? from.index : to.index, target, source, bytes);",
     "  std::memcpy(target, source, bytes);", OPS),
    ("a pinned buffer is used too early", "kernels/array/queued.cpp",
     "  if (event_) wait_event_cuda(device_.index, event_.get());", "", RESIDENT),
    ("a copy that does not wait, from memory that is not pinned", "kernels/array/queued.cpp",
     "  return device.kind == Device::Kind::cpu ? allocate_bytes(device, bytes) : allocate_pinned_cuda(device.index, bytes);",
     "  return allocate_bytes(cpu(), bytes);", RESIDENT),
    ("no barrier after the exchange of a pivot", "kernels/dense/ldlt.hpp",
     "exchange_rows(team, a, n, ld, place, pivot.other);\n      team.sync();",
     "exchange_rows(team, a, n, ld, place, pivot.other);", FACTORS),
    ("no barrier before the pivot is exchanged", "kernels/dense/ldlt.hpp",
     "    team.sync();  // all have read the matrix\n", "", FACTORS),
    ("the host reads multipliers of an earlier iteration", "engine/step/step_system.cpp",
     "&space_.X, &space_.held, &motion_.free_motion", "&space_.X, &motion_.free_motion",
     ("engine", "*BatchFeatures.Obstacles*/cuda")),
    ("springs of the first robot alone", "engine/step/step_system.cpp",
     "    add_spring_stiffness(b);\n", "    if (b == 0) add_spring_stiffness(b);\n",
     ("engine", "*BatchFeatures.SpringsInContact*/cuda")),
    ("the other triangle is factored", "solvers/dense/batched_cuda.cpp",
     "cusolverDnDpotrfBatched(cuda.solver, CUBLAS_FILL_MODE_UPPER",
     "cusolverDnDpotrfBatched(cuda.solver, CUBLAS_FILL_MODE_LOWER", FACTORS),
    ("substitutions in the wrong order", "solvers/dense/batched_cuda.cpp",
     "std::array{CUBLAS_OP_T, CUBLAS_OP_N}", "std::array{CUBLAS_OP_N, CUBLAS_OP_T}", FACTORS),
    ("another leading dimension", "solvers/dense/batched_cuda.cpp",
     "n, matrices, ld, info, batch);\n  else", "n, matrices, n, info, batch);\n  else", FACTORS),
    ("addresses with the wrong stride", "solvers/dense/batched_cuda.cpp",
     "stride * static_cast<std::ptrdiff_t>(sizeof(S)), batch)", "stride * static_cast<std::ptrdiff_t>(sizeof(float)), batch)",
     FACTORS),
    ("an address of the host in an op", "engine/step/step.cpp",
     "found_.systems.data(), vectors(motion_.f)", "reinterpret_cast<const SystemReport*>(robots_.data()), vectors(motion_.f)",
     RESIDENT),
    ("scratch that is too short", "engine/mechanics/reduced/resident_robots.hpp",
     "stiffness_scratch<S>(field.rows, r, team_kind(device))", "stiffness_scratch<S>(field.rows, r, team_kind(device)) - 1", RESIDENT),
]


def run(command, **options):
    return subprocess.run(command, cwd=options.pop("cwd", None), env=options.pop("env", None), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=options.pop("timeout", 900))


def ninja(build, *arguments):
    done = run(["ninja", "-C", str(build), *arguments])
    if done.returncode != 0:
        sys.exit(f"ninja {' '.join(arguments)}: {done.stdout}")
    return done.stdout


class Planter:
    def shell(self, command, what):
        done = run(["bash", "-c", command], cwd=self.build)
        if done.returncode != 0:
            sys.exit(f"{what}:\n{done.stdout[-3000:]}")

    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch
        self.overlay = scratch / "sources"

    def commands(self, target):
        """Shell commands that make a target's own output (the last of `ninja -t commands`)."""
        lines = [line for line in ninja(self.build, "-t", "commands", "-s", target).splitlines() if " -o " in line]
        return lines[-1]

    def objects_of(self, source):
        """Objects that depend on a source, of device code and of host code."""
        found, device, current = [], [], None
        path = str(ROOT / source)
        for line in ninja(self.build, "-t", "deps").splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif line.strip() == path:
                (device if "supple_emulated_kernels.dir" in current else found).append(current)
        return device, found

    def compile(self, obj):
        """Compiles an object with the planted sources in front; its new place."""
        command = self.commands(obj)
        new = self.scratch / obj.replace("/", "_")
        # A source that is planted itself is compiled from there; one that includes it finds it first.
        match = re.search(r" -c (\S+)$", command)
        source = Path(match.group(1))
        planted = self.overlay / source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
        command = command[: match.start()] + f" -c {planted if planted.exists() else source}"
        command = re.sub(r" -o \S+", f" -o {new}", command, count=1)
        command = re.sub(r" -M[TF] \S+", "", command).replace(" -MD", "")
        command = re.sub(r" -I", f" -I{self.overlay} -I", command, count=1)
        self.shell(command, "a planted source does not compile")
        return new

    def link(self, target, objects, replaced):
        command = self.commands(target)
        new = self.scratch / Path(target).name
        for old, place in zip(replaced, objects):
            if f" {old} " in command:
                command = command.replace(f" {old} ", f" {place} ")
            else:  # in a library: what is linked first is taken
                command = re.sub(r" -o \S+", rf"\g<0> {place}", command, count=1)
        command = re.sub(r" -o \S+", f" -o {new}", command, count=1)
        self.shell(command, "a planted program does not link")
        return new

    def plant(self, file, old, new):
        text = (ROOT / file).read_text()
        if text.count(old) < 1:
            print(f"{file} has no longer:\n{old}")
            sys.exit(2)
        target = self.overlay / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(old, new, 1))

    def make(self, file, program):
        """The program with the planted source: a path, and libraries to load first."""
        device, host = self.objects_of(file)
        preload = []
        if device:
            objects = [self.compile(obj) for obj in device]
            preload = [self.link("kernels/emulation/libsupple_emulated_kernels.so", objects, device)]
        target = f"tests/test_{program}_emulated"
        # Of host code only what is in the libraries; tests themselves are as they are.
        host = [obj for obj in host if obj.startswith(("engine/", "solvers/", "kernels/")) and "absent" not in obj
                and not obj.startswith(("engine/CMakeFiles/supple.dir", "engine/CMakeFiles/supple_cli"))
                and (file.endswith(".cpp") or "resident" in obj)
                and not (program == "solvers" and obj.startswith("engine/"))
                and not (program == "kernels" and not obj.startswith("kernels/"))]
        if not host:
            return self.build / target, preload
        return self.link(target, [self.compile(obj) for obj in host], host), preload


def fails(program, preload, tests, mode):
    environment = dict(os.environ, SUPPLE_EMULATION=mode, SUPPLE_REQUIRE_CUDA="1", OPENBLAS_NUM_THREADS="1",
                       OMP_WAIT_POLICY="passive")
    if preload:
        environment["LD_PRELOAD"] = " ".join(map(str, preload))
    try:
        done = run([str(program), f"--gtest_filter={tests}", "--gtest_brief=1"], env=environment, timeout=600)
    except subprocess.TimeoutExpired:
        return "it does not end"
    if done.returncode == 0:
        if "[  PASSED  ] 0 tests" in done.stdout:
            sys.exit(f"no tests are called {tests}")
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("emulated GPU:")] or \
            [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
    if not lines:
        sys.exit(f"{program} ends with {done.returncode}, and not by a test:\n{done.stdout[-2000:]}")
    return lines[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if options.only in (None, bug[0])]
    if options.list:
        print("\n".join(name for name, *_ in BUGS))
        return
    build = options.build.resolve()
    missed = []
    for program, tests in sorted({bug[4] for bug in bugs}):
        for mode in MODES:
            why = fails(build / f"tests/test_{program}_emulated", [], tests, mode)
            if why:
                sys.exit(f"tests of {program} fail without a bug ({mode}): {why}")
    for name, file, old, new, (program, tests) in bugs:
        with tempfile.TemporaryDirectory() as folder:
            planter = Planter(build, Path(folder))
            planter.plant(file, old, new)
            path, preload = planter.make(file, program)
            for mode in MODES:
                why = fails(path, preload, tests, mode)
                if why:
                    print(f"caught  {name} ({mode}): {why[:150]}", flush=True)
                    break
            else:
                print(f"MISSED  {name}", flush=True)
                missed.append(name)
    print(f"{len(bugs) - len(missed)} of {len(bugs)} planted bugs are caught")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
