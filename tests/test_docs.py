"""Every block of Python in README and docs runs, and says the truth."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def run(page, folder, monkeypatch):
    """Run the blocks of a page one after the other, as a reader would."""
    monkeypatch.chdir(folder)
    names = {"__name__": "page"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)
    return names


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_blocks_run(page, tmp_path, monkeypatch):
    names = run(page, tmp_path, monkeypatch)
    if page.name == "table-and-image.md":
        assert names["accuracy"] > 0.85
        weights = names["model"].image[0].weight
        assert weights.grad.abs().max() > 0


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
