"""What is published: the wheel, its metadata, the versions the book is checked with."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from headway.checks.command.explanations import from_json, read_book

ROOT = Path(__file__).parents[1]
OLDEST = "constraints-lowest.txt"
ADDRESSES = ("SITE_URL", "REPO_URL")
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
# PyTorch's build for Linux brings these, and pins most of them itself.
CUDA = ("cuda-", "nvidia-", "triton")
# What is installed from this repository has no version of its own to pin.
TOOLS = ("pytest-proofread",)


def build(folder: Path, **addresses: str) -> Path:
    """Build the wheel and unpack it, as pip does."""
    unknown = {key: value for key, value in os.environ.items() if key not in ADDRESSES}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    environment = unknown | addresses
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def published(unpacked: Path) -> PathDistribution:
    return metadata(unpacked)


def metadata(unpacked: Path) -> PathDistribution:
    """Return what an unpacked wheel says of itself."""
    [folder] = unpacked.glob("*.dist-info")
    return PathDistribution(folder)


def group(name: str) -> list[Requirement]:
    """Return what a dependency group asks for, with the groups that it includes."""
    file = ROOT / "pyproject.toml"
    groups = tomllib.loads(file.read_text(encoding="utf-8"))["dependency-groups"]
    found = []
    for entry in groups[name]:
        if isinstance(entry, str):
            found.append(Requirement(entry))
        else:
            found += group(entry["include-group"])
    return found


def needs(package: Distribution, *extras: str) -> list[Requirement]:
    """Return what a package requires on Linux, with some of its extras."""
    return [
        requirement
        for requirement in map(Requirement, package.requires or [])
        if requirement.marker is None
        or any(requirement.marker.evaluate(LINUX | {"extra": e}) for e in ("", *extras))
    ]


def pins(file: str = "constraints.txt") -> list[Requirement]:
    """Return the versions that a file of constraints pins."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def closure(requirements: Iterable[Requirement]) -> dict[str, Distribution]:
    """Return, by name, all that requirements need, CUDA left out."""
    found = {}
    seen = set()
    waiting = [*requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        key = (name, *sorted(requirement.extras))
        if key not in seen and not name.startswith(CUDA) and name not in TOOLS:
            seen.add(key)
            found[name] = distribution(name)
            waiting += needs(found[name], *requirement.extras)
    return found


def test_the_wheel_holds_the_package_and_nothing_else(unpacked: Path) -> None:
    inside = {str(file.relative_to(unpacked)) for file in unpacked.rglob("*.*")}
    source = ROOT / "src"
    package = {
        str(file.relative_to(source))
        for file in (source / "headway").rglob("*.*")
        if "__pycache__" not in file.parts and file.is_file()
    }
    package |= {"headway/_runner.py", "headway/checks/explanations.json"}  # see below
    assert "headway/py.typed" in inside
    assert {name for name in inside if ".dist-info" not in name} == package
    assert sorted(path.name for path in unpacked.iterdir()) == [
        "headway",
        next(unpacked.glob("headway-*.dist-info")).name,
    ]


def test_both_wheels_hold_the_same_runner(unpacked: Path) -> None:
    tool = ROOT / "tools/pytest-proofread/src/pytest_proofread/runner.py"
    inside = unpacked / "headway/_runner.py"
    assert inside.read_bytes() == tool.read_bytes()
    done = subprocess.run(
        [sys.executable, "-I", inside],
        input='{"code": "print(1 + 1)"}\n{"code": "1 / 0"}\n',
        capture_output=True,
        text=True,
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["output"] == "2\n"
    assert second["error"] == "ZeroDivisionError: division by zero"


def test_the_wheel_explains_ids_without_the_book(unpacked: Path) -> None:
    packed = unpacked / "headway/checks/explanations.json"
    assert from_json(packed.read_text("utf-8")) == read_book(ROOT / "docs")
    program = (
        "import sys; from headway.cli import main; main(['explain', *sys.argv[1:]])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, "no-scale"],
        capture_output=True,
        text=True,
        cwd=unpacked,
    )
    assert done.stdout.startswith("no-scale, a mistake: scores are not scaled\n"), (
        done.stderr
    )


def test_an_sdist_has_what_its_wheel_explains(tmp_path: Path, unpacked: Path) -> None:
    def build_in(source: Path, target: str) -> Path:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target]
        subprocess.run(
            [*command, "-d", tmp_path], cwd=source, check=True, capture_output=True
        )
        [built] = tmp_path.glob({"sdist": "*.tar.gz", "wheel": "*.whl"}[target])
        return built

    shutil.unpack_archive(build_in(ROOT, "sdist"), tmp_path)
    [source] = tmp_path.glob("headway-*/")
    assert not (source / "docs").exists()
    with zipfile.ZipFile(build_in(source, "wheel")) as archive:
        packed = archive.read("headway/checks/explanations.json")
    assert packed == (unpacked / "headway/checks/explanations.json").read_bytes()


def test_a_reader_s_project_needs_torch_and_jaxtyping_only(
    published: PathDistribution,
) -> None:
    assert {requirement.name for requirement in needs(published)} == {
        "torch",
        "jaxtyping",
    }


def test_no_address_is_made_up(published: PathDistribution, tmp_path: Path) -> None:
    assert published.metadata.get_all("Project-URL") is None
    wheel = build(tmp_path, SITE_URL="https://a.test/", REPO_URL="https://b.test/c")
    assert metadata(wheel).metadata.get_all("Project-URL") == [
        "Documentation, https://a.test/",
        "Source, https://b.test/c",
    ]


def test_the_version_is_the_same_everywhere(published: PathDistribution) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?([\d.]+)", changelog, flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == published.version
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == published.version


@pytest.mark.slow
def test_the_wheel_works_with_what_it_requires_alone(
    unpacked: Path, published: PathDistribution, tmp_path: Path
) -> None:
    # An environment that holds torch, jaxtyping, what they require, and nothing else.
    (tmp_path / "headway").symlink_to(unpacked / "headway")
    for package in closure(needs(published)).values():
        for top in {file.parts[0] for file in package.files or []} - {"..", "headway"}:
            link = tmp_path / top
            if not link.exists():
                link.symlink_to(Path(package.locate_file(top)))
    program = f"""
import sys
sys.path.append({str(tmp_path)!r})
import headway, torch
module = headway.MultiHeadAttention(4, 6, 5, 0.0, 2)
print(tuple(module(torch.ones(3, 5, 4)).shape), headway.__file__)
"""
    # -S leaves out this environment's packages, -I the folder and the variables.
    alone = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True
    )
    assert alone.stdout == f"(3, 5, 6) {tmp_path / 'headway' / '__init__.py'}\n", (
        alone.stderr
    )
    # PyTorch warns at import that there is no NumPy; the package itself says nothing.
    warnings = [line for line in alone.stderr.splitlines() if "Warning" in line]
    assert all("Failed to initialize NumPy" in line for line in warnings)


def test_each_pin_is_one_version_and_stands_once() -> None:
    for file in ("constraints.txt", "constraints-lowest.txt"):
        assert all(re.fullmatch(r"==[^*,]+", str(pin.specifier)) for pin in pins(file))
        names = [canonicalize_name(pin.name) for pin in pins(file)]
        assert len(names) == len({*names})


def test_all_that_the_book_is_checked_with_is_pinned(
    published: PathDistribution,
) -> None:
    installed = closure(
        [
            *needs(published),
            *needs(distribution("pytest-proofread")),
            *needs(distribution("headway-workshop")),
            *group("dev"),
        ]
    )
    installed.pop("headway", None)  # the workshop needs it, as it lies here
    pinned = {canonicalize_name(pin.name): pin.specifier for pin in pins()}
    versions = {name: package.version for name, package in installed.items()}
    assert [
        f"{name}=={version}"
        for name, version in versions.items()
        if name not in pinned or version not in pinned[name]
    ] == []
    # Nothing is pinned that nothing needs, but for what has an environment of its own.
    book = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n\n")[1]
    assert {canonicalize_name(line.split("==")[0]) for line in book.split()} == {
        *installed
    }
    others = {
        canonicalize_name(requirement.name)
        for name in ("browser", "peers", "release", "versus")
        for requirement in group(name)
    }
    assert others <= {*pinned}


def test_the_oldest_versions_are_those_that_are_promised(
    published: PathDistribution,
) -> None:
    promised = {f"{one.name}{one.specifier}" for one in needs(published)}
    tried = {f"{pin.name}{pin.specifier}".replace("==", ">=") for pin in pins(OLDEST)}
    # What PyTorch asks for is pinned beside it; nothing else is as old.
    assert {re.sub(r"(\.0)+$", "", one) for one in tried} - {
        "sympy>=1.13.1"
    } == promised
