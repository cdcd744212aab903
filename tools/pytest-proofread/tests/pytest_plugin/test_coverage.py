"""Coverage sees what programs run, with the settings that the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import CoverageData

README = Path(__file__).parents[2] / "README.md"
PAGE = """# Page

```python
from mine import f

f(1)
```

```python
import mine

mine.f(0)
```

```python
x = 1
```
"""
MODULE = """X = 1


def f(a):
    if a:
        return 2
    return 3


def g():
    return 4
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_what_programs_run_is_covered(tmp_path: Path) -> None:
    [settings] = re.findall(
        r"^```toml\n(\[tool\.coverage.*?)^```", README.read_text("utf-8"), re.M | re.S
    )
    for name, text in {
        "src/mine.py": MODULE,
        "docs/page.md": PAGE,
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n'
        + settings,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    plugin = ["-p", "pytest_proofread.options", "-p", "no:cacheprovider"]
    pages = ["-m", "pytest", *plugin, "--proofread", "docs"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for command in (["run", *pages], ["combine"]):
        subprocess.run(
            [sys.executable, "-m", "coverage", *command],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
        )
    data = CoverageData(str(tmp_path / ".coverage"))
    data.read()
    assert sorted(data.lines(str(tmp_path / "src/mine.py")) or []) == [
        1,
        4,
        5,
        6,
        7,
        10,
    ]
