"""The list of mutants fits the package: `make mutate` would take an hour to say so."""

from pathlib import Path

from workshop.mutation.package import read

ROOT = Path(__file__).parents[1]


def test_each_replaces_what_the_package_has_and_its_module_has_tests(monkeypatch):
    monkeypatch.chdir(ROOT)
    trial = read(ROOT / "tests" / "package_mutants.toml")
    assert len({(one.file, one.old, one.new) for one in trial.mutants}) == len(
        trial.mutants
    )
