"""The console script before the package is imported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dnfnet_command

SCRIPT = "import sys, dnfnet_command; sys.exit(dnfnet_command.main())"


def test_ctrl_c_during_the_imports_is_one_sentence(tmp_path):
    """A package of the same name stands for slow imports."""
    (tmp_path / "dnfnet").mkdir()
    (tmp_path / "dnfnet" / "__init__.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    path = os.pathsep.join([str(tmp_path), str(Path(dnfnet_command.__file__).parent)])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "dnfnet: interrupted: nothing was written\n"


def test_the_command_runs_and_restores_ctrl_c(monkeypatch):
    seen = []
    monkeypatch.setattr("dnfnet.cli.main", lambda: seen.append(signal.getsignal(signal.SIGINT)) or 7)
    before = signal.getsignal(signal.SIGINT)
    assert dnfnet_command.main() == 7
    assert seen == [before]


def test_idle_threads_sleep_unless_the_user_says_otherwise(monkeypatch):
    """Spinning threads make everything many times slower on a busy machine."""
    monkeypatch.setattr(sys, "argv", ["dnfnet", "--version"])
    for given, expected in ((None, "passive"), ("active", "active")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if given:
            monkeypatch.setenv("OMP_WAIT_POLICY", given)
        with pytest.raises(SystemExit):
            dnfnet_command.main()
        assert os.environ["OMP_WAIT_POLICY"] == expected
