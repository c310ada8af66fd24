"""Who computes, who is refused, and what torch.compile sees."""

import os
import subprocess
import sys

import pytest
import torch
from blocks import make_block, make_run_block

from dnfnet import ops
from dnfnet.nn import DNFNet, Layout
from dnfnet.ops import library, reference
from dnfnet.ops.fused import block as fused_block
from dnfnet.ops.tanh import tanh as fused_tanh


def test_backend_says_what_runs_and_why(fused):
    assert fused.name == "fused"
    assert "instructions" in fused.reason
    with ops.use("torch") as chosen:
        assert str(chosen) == "torch: chosen by dnfnet.ops.use"
    assert ops.backend() == fused


def test_use_refuses_unknown_names():
    with pytest.raises(ValueError, match="must be 'fused' or 'torch'"), ops.use("cuda"):
        pass


def test_a_missing_library_leaves_torch(tmp_path):
    """What an install without a compiler is like: everything works, and the reason is told."""
    code = (
        "from dnfnet.ops import library; from pathlib import Path\n"
        f"library.LIBRARY = Path({str(tmp_path)!r}) / 'none.so'; library.load.cache_clear()\n"
        "import dnfnet.ops.state as s; s.state.fused = library.load().functions is not None\n"
        "import torch; from dnfnet import nn, ops\n"
        "print(nn.DNFNet(3, 2, n_formulas=4, beta=1.0)(torch.zeros(2, 3)).shape, ops.backend())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch.Size([2, 2]) torch: the package was built without a C++ compiler" in done.stdout


def test_a_library_of_another_build_leaves_torch(fused, monkeypatch):
    monkeypatch.setattr(library, "INTERFACE", 10**6)
    found = library.load.__wrapped__()
    assert found.functions is None
    assert "build the package again" in found.reason


def test_the_environment_chooses_the_instruction_set(fused):
    code = "from dnfnet import ops; print(ops.backend())"
    for name in ("baseline", "avx9"):
        env = {**os.environ, library.INSTRUCTIONS_VARIABLE: name}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
        assert ("baseline instructions" in done.stdout) == (name == "baseline")
        assert ("must be one of" in done.stderr) == (name == "avx9")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_go_to_torch(fused, dtype):
    block = make_block(Layout(4), 5, 3, masks="none")
    inputs = [t.detach().to(dtype) for t in (block.x, block.weight, block.bias)]
    out = ops.dnnf(*inputs, block.layout)
    assert out.dtype == dtype
    assert torch.equal(out, reference.dnnf(*inputs, block.layout))


def test_strided_input_is_copied_not_misread(fused):
    block = make_block(Layout(4), 30, 6, masks="none")
    wide = torch.stack([block.x.detach(), torch.zeros(30, 6)], dim=-1)[..., 0]
    assert not wide.is_contiguous()
    assert torch.equal(ops.dnnf(wide, block.weight, block.bias, block.layout), block.run()[0])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weight", lambda t: t[1:], "weight must have shape"),
        ("bias", lambda t: t[1:], "bias must have shape"),
        ("gate", lambda t: t[:, 1:], "gate must have shape"),
        ("keep", lambda t: t[1:], "keep must have shape"),
        ("keep", lambda t: t.float(), "keep must be a bool tensor"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(name, change, message):
    block = make_block(Layout(4), 5, 3)
    tensors = {n: getattr(block, n) for n in ("weight", "bias", "gate", "keep")}
    tensors[name] = change(tensors[name])
    with pytest.raises(ValueError, match=message):
        ops.dnnf(block.x, tensors.pop("weight"), tensors.pop("bias"), block.layout, **tensors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.double(), "x must be a torch.float32 tensor"),
        (lambda t: t[:, 1:], "x must be a torch.float32 tensor of shape"),
        (lambda t: t.T.contiguous().T, "x must be contiguous"),
    ],
)
def test_the_operator_itself_passes_no_bad_pointer(fused, change, message):
    block = make_block(Layout(4), 5, 3, masks="none")
    wiring = block.layout.conjunctions, block.layout.lengths, block.layout.n_formulas
    with pytest.raises(ValueError, match=message):
        fused_block(change(block.x.detach()), block.weight, block.bias, None, None, None, None, *wiring, False, False)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("in_runs", [False, True])
@pytest.mark.parametrize("sums", [False, True])
def test_the_operators_are_registered_as_torch_wants_them(fused, keeps, in_runs, sums):
    """Schema, fake version and gradients, checked by torch itself."""
    block = make_run_block(Layout(4), 17, [2], [2], 1) if in_runs else make_block(Layout(4), 17, 5)
    runs = (block.runs.table, block.runs.ends) if in_runs else (None, None)
    wiring = list(block.layout.conjunctions), list(block.layout.lengths), block.layout.n_formulas
    arguments = (block.x, block.weight, block.bias, block.gate, block.keep, *runs, *wiring, keeps, sums)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(fused_block, arguments, test_utils=tests)
    torch.library.opcheck(fused_tanh, (block.x.detach().requires_grad_(),), test_utils=tests)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_compiled_network_has_one_graph_and_the_same_gradients(fused, mode):
    net = getattr(DNFNet(5, 3, n_formulas=8, beta=0.7), mode)()
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    x = torch.randn(20, 5)
    grads = []
    for model in (net, compiled):
        net.zero_grad()
        model(x).square().sum().backward()
        grads.append([p.grad.clone() for p in net.parameters() if p.grad is not None])
    for eager, traced in zip(*grads, strict=True):
        torch.testing.assert_close(eager, traced)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), net(x))
