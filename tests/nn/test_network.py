"""DNFNet as a module: its parts, gradients, devices, compilation, saving."""

import ast
import sys
from pathlib import Path

import pytest
import torch

import dnfnet
from dnfnet.nn import DNNF, DNFNet, FeatureSelection, Layout

# The paper's ablations: what is left out or replaced (Tables 1 and 2), and the constant in place of localization.
EXPERIMENTS = {
    "1": {"structure": "dense", "beta": None, "keep_probs": None, "localization": None},
    "2": {"beta": None, "keep_probs": None, "localization": None},
    "3 and 6": {"beta": 0.7, "localization": None},
    "4": {"beta": 0.7},
    "5": {"beta": None, "keep_probs": None},
    "7": {"structure": "dense", "beta": 0.7},
    "constant": {"beta": 0.7, "localization": "uniform"},
}


def batch(rows=64, d_in=5, n_classes=3):
    return torch.randn(rows, d_in), torch.randint(n_classes, (rows,))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_parameter_learns_in_every_experiment(name):
    """Each trainable parameter gets a gradient that is not zero, and has moved after 20 steps."""
    net = DNFNet(5, 3, n_formulas=20, generator=torch.Generator().manual_seed(1), **EXPERIMENTS[name])
    before = {key: value.detach().clone() for key, value in net.state_dict().items()}
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    x, y = batch()
    for step in range(20):
        optimizer.zero_grad()
        (torch.nn.functional.cross_entropy(net(x), y) + net.penalty()).backward()
        if step == 0:
            for key, parameter in net.named_parameters():
                assert parameter.grad.abs().max() > 0, key
        optimizer.step()
    moved = {key for key, value in net.state_dict().items() if not torch.equal(value, before[key])}
    assert moved == {key for key, _ in net.named_parameters()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_have_the_parts_they_should(name):
    net = DNFNet(5, 3, n_formulas=8, **EXPERIMENTS[name])
    names = {key.rsplit(".", 1)[0] for key in net.state_dict()}
    options = {"localization": "gaussian", "structure": "dnf", **EXPERIMENTS[name]}
    assert ("block.selection" in names) == (options["beta"] is not None)
    assert ("localization" in names) == (options["localization"] == "gaussian")
    assert ("block.conjunctions" in names) == (options["structure"] == "dense")


def test_random_mask_is_no_parameter_and_survives_saving(tmp_path):
    net = DNFNet(5, 3, n_formulas=20, beta=0.7, generator=torch.Generator().manual_seed(1))
    torch.save(net.state_dict(), tmp_path / "net.pt")
    other = DNFNet(5, 3, n_formulas=20, beta=0.7, generator=torch.Generator().manual_seed(2))
    assert not torch.equal(other.block.selection.random_mask, net.block.selection.random_mask)
    other.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
    x = torch.randn(7, 5)
    assert torch.equal(other(x), net(x))
    assert "block.selection.random_mask" not in dict(net.named_parameters())


def test_start_is_what_the_authors_trained():
    """One Xavier draw over features × all literals, biases 0, masks 1.5, α 0, τ 2."""
    net = DNFNet(32, 5, n_formulas=512, beta=0.7, generator=torch.Generator().manual_seed(1))
    bound = (6 / (32 + 512 * 42)) ** 0.5
    assert bound == pytest.approx(0.0167, abs=5e-5)
    weight = net.block.weight
    assert 0.999 * bound < weight.abs().max() <= bound
    assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.01)
    assert not net.block.bias.any()
    assert not net.head.bias.any()
    assert net.head.weight.abs().max() <= (6 / (512 + 5)) ** 0.5
    assert (net.block.selection.mask == 1.5).all()
    assert net.block.selection.alpha == 0
    assert net.localization.tau == 2
    for values in (net.localization.mu, net.localization.sigma):
        assert values.std().item() == pytest.approx(1, abs=0.02)
        assert values.mean().item() == pytest.approx(0, abs=0.02)


def test_generator_decides_everything():
    nets = [DNFNet(5, 3, n_formulas=8, beta=0.7, generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2)]
    x = torch.randn(4, 5)
    assert torch.equal(nets[0](x), nets[1](x))
    assert not torch.equal(nets[0](x), nets[2](x))


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_small_batches(n_rows):
    net = DNFNet(5, 3, n_formulas=8, beta=0.7)
    x = torch.randn(n_rows, 5, requires_grad=True)
    net(x).sum().backward()
    assert net(x).shape == (n_rows, 3)
    assert x.grad.shape == (n_rows, 5)


def test_leading_dimensions_are_batch_dimensions():
    net = DNFNet(5, 3, n_formulas=8, beta=0.7).double()
    x = torch.randn(2, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(net(x), net(x.reshape(8, 5)).reshape(2, 4, 3))


def test_a_formula_without_features_is_a_constant():
    """β ≤ 1 can push every mask entry of a formula below the threshold."""
    block = DNNF(3, Layout(8), selection=FeatureSelection(8, 3, beta=0.1))
    with torch.no_grad():
        block.selection.mask[2] = 0.5
    formulas = block(torch.randn(6, 3))
    assert formulas[:, 2].std() == 0
    assert (formulas[:, [0, 1, 3, 4, 5, 6, 7]].std(0) > 0).all()


def test_bfloat16():
    net = DNFNet(5, 3, n_formulas=8, beta=0.7)
    x = torch.randn(4, 5)
    low = net.to(torch.bfloat16)(x.to(torch.bfloat16))
    assert low.dtype == torch.bfloat16
    assert torch.isfinite(low).all()


def test_meta_device():
    """Shapes flow without data, as on any other device: nothing is tied to the CPU."""
    net = DNFNet(5, 3, n_formulas=8, beta=0.7).to("meta")
    assert net(torch.empty(4, 5, device="meta")).shape == (4, 3)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_autocast(mode):
    net = getattr(DNFNet(5, 3, n_formulas=8, beta=0.7), mode)()
    x, y = batch()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(x)
    torch.testing.assert_close(logits.float(), net(x), rtol=0, atol=0.05)
    torch.nn.functional.cross_entropy(logits.float(), y).backward()
    assert torch.isfinite(net.localization.mu.grad).all()


def test_one_row_without_a_batch_dimension():
    net = DNFNet(5, 3, n_formulas=8, beta=0.7)
    x = torch.randn(5)
    torch.testing.assert_close(net(x), net(x[None])[0])


@pytest.mark.parametrize("rows", [0, 4])
def test_a_wrong_number_of_features_is_refused(rows):
    with pytest.raises(ValueError, match="x must have 5 features"):
        DNFNet(5, 3, n_formulas=8, beta=0.7)(torch.zeros(rows, 4))


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_compiles_without_graph_break(mode):
    net = getattr(DNFNet(5, 3, n_formulas=8, beta=0.7), mode)()
    x, y = batch()
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), net(x))
    torch.nn.functional.cross_entropy(compiled(x), y).backward()
    assert net.block.weight.grad.abs().max() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "tree"}, "structure must be one of"),
        ({"localization": "sharp"}, "localization must be"),
        ({"d_out": 0}, "d_out must be at least 1"),
        ({"d_in": 0}, "d_in must be at least 1"),
        ({"d_in": 0, "beta": None, "keep_probs": None}, "d_in must be at least 1"),
    ],
)
def test_impossible_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DNFNet(**{"d_in": 5, "d_out": 3, "n_formulas": 8, "beta": 0.7, **options})


@pytest.mark.parametrize("room", ["nn", "ops"])
def test_lower_rooms_import_nothing_from_above(room):
    """nn/ and ops/ know torch and each other: no scikit-learn, no tables, no training."""
    folder = Path(dnfnet.__file__).parent / room
    allowed = {"dnfnet.nn", "dnfnet.ops", "torch", "numpy"} | set(sys.stdlib_module_names)
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"dnfnet.{a.name}" for a in node.names] if node.module == "dnfnet" else [node.module]
            for name in names:
                top = ".".join(name.split(".")[: 2 if name.startswith("dnfnet") else 1])
                assert top in allowed, f"{path.name} imports {name}"
