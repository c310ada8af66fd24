"""Optional packages, and what is said when one is missing."""

import json

import pytest

from dnfnet.compat import require
from dnfnet.exceptions import MissingDependencyError


def test_an_installed_module_is_imported():
    assert require("json.decoder", "paper") is json.decoder


def test_a_missing_package_comes_with_the_command_that_installs_it():
    with pytest.raises(MissingDependencyError, match=r"'nowhere'.*pip install 'dnfnet\[paper\]'"):
        require("nowhere.inside", "paper")


def test_an_error_inside_an_installed_package_is_not_covered_up(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import what_it_lacks")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="what_it_lacks") as caught:
        require("broken_package", "paper")
    assert not isinstance(caught.value, MissingDependencyError)
