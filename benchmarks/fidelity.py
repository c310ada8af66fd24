"""The paper's preset on the paper's partition 0: test log-loss beside the prototype's and the paper's means.

    python benchmarks/fidelity.py --data-dir DATA

trains 512 formulas with β = 0.7 and seed 1 on `eye` and `gesture`, and prints a Markdown table.
"""

from __future__ import annotations

import argparse
import time

from dnfnet import DNFNetClassifier
from dnfnet.paper.datasets import load_dataset
from dnfnet.paper.partitions import make_partitions
from dnfnet.training import METRICS

# Test log-loss of a prototype on the same partition, and the paper's mean over partitions and its grid of β (Table 1).
REFERENCES = {"eye": (0.724, 0.7125), "gesture": (0.928, 0.9120)}


def main() -> None:
    """Train on each data set and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="folder with eye.parquet and gesture.parquet (default: OpenML)")
    parser.add_argument("--datasets", nargs="+", default=list(REFERENCES), choices=list(REFERENCES))
    parser.add_argument("--n-formulas", type=int, default=512)
    parser.add_argument("--beta", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("| data set | test log-loss | prototype | paper's mean | epochs | seconds |\n|---|---|---|---|---|---|")
    for name in args.datasets:
        print(measure(name, args), flush=True)


def measure(name: str, args: argparse.Namespace) -> str:
    """One line of the table."""
    data = load_dataset(name, data_dir=args.data_dir)
    part = make_partitions(data.y).parts[0]
    model = DNFNetClassifier.paper(n_formulas=args.n_formulas, beta=args.beta, random_state=args.seed)
    started = time.perf_counter()
    model.fit(data.x[part.train], data.y[part.train], eval_set=(data.x[part.validation], data.y[part.validation]))
    seconds = time.perf_counter() - started
    loss = METRICS["log_loss"](model.predict_proba(data.x[part.test]), data.y[part.test])
    prototype, paper = REFERENCES[name]
    return f"| {name} | {loss:.4f} | {prototype} | {paper} | {model.n_iter_} | {seconds:.0f} |"


if __name__ == "__main__":
    main()
