"""The code paths that PyTorch and the libraries under it can be told to take.

A processor decides which of several versions of a function runs, and each may round in
its own way. PyTorch, MKL and oneDNN read what they are told from the environment when
they are loaded, so each path needs a process of its own.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

VARIABLES = {
    "PyTorch": "ATEN_CPU_CAPABILITY",
    "MKL": "MKL_CBWR",
    "oneDNN": "ONEDNN_MAX_CPU_ISA",
}
THREADS = "OMP_NUM_THREADS"


class CodePath(NamedTuple):
    """What the libraries are told; nothing means that they choose by themselves."""

    name: str
    branches: dict[str, str]
    threads: int | None = None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which the libraries take this path."""
        rest = {k: v for k, v in base.items() if k not in VARIABLES.values()}
        chosen = {
            VARIABLES[library]: branch for library, branch in self.branches.items()
        }
        threads = {THREADS: str(self.threads)} if self.threads else {}
        return rest | chosen | threads


def _path(name: str, pytorch: str, mkl: str, onednn: str, threads: int) -> CodePath:
    plural = "s" if threads > 1 else ""
    branches = {"PyTorch": pytorch, "MKL": mkl, "oneDNN": onednn}
    return CodePath(f"{name}, {threads} thread{plural}", branches, threads)


BY_THEMSELVES = CodePath("by themselves", {})
OLDEST = _path("oldest", "default", "COMPATIBLE", "SSE41", 1)
# The first two are the cheapest that differ on every processor.
PATHS = (
    BY_THEMSELVES,
    OLDEST,
    _path("AVX2", "avx2", "AVX2", "AVX2", 1),
    _path("AVX2", "avx2", "AVX2", "AVX2", 2),
    _path("AVX-512", "avx512", "AVX512", "AVX512_CORE", 1),
    _path("AVX-512", "avx512", "AVX512", "AVX512_CORE", 2),
    # A library may be new where another is old.
    _path("old PyTorch", "default", "AVX2", "AVX512_CORE", 2),
    _path("old MKL", "avx2", "COMPATIBLE", "AVX2", 2),
)


def another(environment: Mapping[str, str]) -> CodePath:
    """Return one of the two cheapest paths, which an environment does not ask for."""
    oldest = OLDEST.environment({})
    is_oldest = all(environment.get(name) == value for name, value in oldest.items())
    return BY_THEMSELVES if is_oldest else OLDEST


# ---- Which paths there are here ----------------------------------------------------

# One operation of each library, and what each says of the branch that it takes.
PROBE = """
import torch
print("PyTorch:" + torch.backends.cpu.get_cpu_capability().replace("NO ", ""))
(torch.ones(64, 64) @ torch.ones(64, 64)).exp().sum().item()
torch.backends.mkldnn.is_available() and torch.ones(1, 2).to_mkldnn()
"""
TAKEN = {
    "PyTorch": re.compile(r"^PyTorch:(\w+)$", re.M),
    "MKL": re.compile(r"\bCNR:(\w+)"),
    "oneDNN": re.compile(r"\bcpu,isa:(.+)$", re.M),
}
# How oneDNN spells what it is told.
ISA = {
    "SSE41": "Intel SSE4.1",
    "AVX2": "Intel AVX2",
    "AVX512_CORE": "Intel AVX-512 with AVX512BW, AVX512VL, and AVX512DQ extensions",
}


def taken(path: CodePath) -> dict[str, str]:
    """Ask each library which branch it takes when it is told to take a path.

    Returns:
        Library and branch; a library that is not there, or says nothing because the
        processor cannot run what it was told to, is left out.
    """
    loud = {"MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROBE],
        env=path.environment(os.environ) | loud,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return {}
    found = {name: pattern.search(done.stdout) for name, pattern in TAKEN.items()}
    return {name: match[1] for name, match in found.items() if match}


def not_taken(path: CodePath, found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each library that did not take its branch, and why."""
    for library, branch in path.branches.items():
        there = found.get(library)
        if there is None:
            yield library, f"{library} {branch}: it does not run here"
        elif there.upper() != branch.upper() and there != ISA.get(branch):
            yield library, f"{library} {branch}: it takes {there} instead"
