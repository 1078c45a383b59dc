"""The guides' Python runs as it stands there."""

import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


@pytest.mark.parametrize("name", ["python", "sweeps"])
def test_a_guide_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (GUIDES / f"{name}.md").read_text(), flags=re.S | re.M)
    assert blocks
    names: dict[str, object] = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), names)
    assert list(tmp_path.glob("*.png"))
