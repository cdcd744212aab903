"""What `headway check` writes for other services is read by libraries of others."""

import json
from pathlib import Path
from typing import Any

import pytest
import sarif_pydantic as sarif
from junitparser import Error, Failure, JUnitXml, Skipped
from pydantic import ValidationError

from headway.checks import cli
from headway.checks.command.worker import answer

PROJECT = """
[tool.headway.checks."mine.py:sees_all"]
causal = true

[tool.headway.checks."mine.py:gone"]

[tool.headway.checks."torch.nn:MultiheadAttention"]
arguments = { embed_dim = 12, num_heads = 4 }
expected = { fully-masked = "known" }
"""
CODE = """
def sees_all(q, k, v, causal=True):
    return (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1) @ v
"""


@pytest.fixture
def printed(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What a check of a project prints in a format."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "mine.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert cli.main(["--format", request.param], ask=answer) == 2
    return capsys.readouterr().out


@pytest.mark.parametrize("printed", ["junit"], indirect=True)
def test_a_reader_of_junit_counts_what_the_report_counts(printed: str) -> None:
    suites = [*JUnitXml.fromstring(printed.encode())]
    assert [(one.name, one.tests, one.failures, one.errors) for one in suites] == [
        ("mine.py:sees_all", 26, 3, 0),
        ("mine.py:gone", 1, 0, 1),
        ("torch.nn:MultiheadAttention", 26, 0, 0),
    ]
    for suite in suites:
        kinds = [type(one) for case in suite for one in case.result]
        counts = [kinds.count(kind) for kind in (Failure, Error, Skipped)]
        assert counts == [suite.failures, suite.errors, suite.skipped]


@pytest.mark.parametrize("printed", ["sarif"], indirect=True)
def test_a_reader_of_sarif_finds_results_with_their_rules(printed: str) -> None:
    [run] = sarif.Sarif.model_validate_json(printed).runs
    found = [(one.rule_id, str(one.level.value)) for one in run.results]
    assert found == [("equation", "error"), ("fully-masked", "error")]
    assert {rule.id for rule in run.tool.driver.rules} == {one for one, _ in found}
    [where] = run.results[0].locations
    assert where.physical_location.artifact_location.uri == "mine.py"
    assert where.physical_location.region.start_line == 2


@pytest.mark.parametrize("printed", ["sarif"], indirect=True)
def test_the_reader_of_sarif_refuses_what_is_wrong(printed: str) -> None:
    def first(log: dict[str, Any]) -> dict[str, Any]:
        return log["runs"][0]["results"][0]

    def changed(key: str, value: object) -> str:
        log = json.loads(printed)
        first(log)[key] = value
        return json.dumps(log)

    for key, value in (("level", "failed"), ("message", "text"), ("locations", {})):
        with pytest.raises(ValidationError):
            sarif.Sarif.model_validate_json(changed(key, value))
