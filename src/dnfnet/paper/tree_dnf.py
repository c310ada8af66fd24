"""A fitted decision tree as the DNF formula that it is equivalent to (paper, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.vc import rank_of, vc_bound_dnf, vc_dim_trees

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


@dataclass(frozen=True, order=True)
class Literal:
    """A decision on one feature: ``x[feature] <= threshold``, or its negation."""

    feature: int
    threshold: float
    negated: bool

    def holds(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell for each row of ``x`` whether the literal is true."""
        # scikit-learn compares single precision values with double precision thresholds.
        below = x[:, self.feature].astype(np.float32) <= self.threshold
        return ~below if self.negated else below

    def __str__(self) -> str:
        return f"x[{self.feature}] {'>' if self.negated else '<='} {self.threshold:g}"


@dataclass(frozen=True)
class Conjunction:
    """Literals that must all be true; an empty conjunction is true everywhere."""

    literals: tuple[Literal, ...]

    def holds(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell for each row of ``x`` whether all literals are true."""
        result = np.ones(len(x), dtype=bool)
        for literal in self.literals:
            result &= literal.holds(x)
        return result

    def __str__(self) -> str:
        return " and ".join(map(str, self.literals)) or "true"


@dataclass(frozen=True)
class TreeDNF:
    """A disjunction of the paths of a tree to the leaves of one class.

    Attributes
    ----------
    conjunctions : tuple of Conjunction
        One for each leaf that says "positive"; no row can satisfy two of them.
    rank : int
        Rank of the tree it came from.
    n_features : int
        Features of the tree.
    """

    conjunctions: tuple[Conjunction, ...]
    rank: int
    n_features: int

    def predict(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell for each row of ``x`` whether the formula is true."""
        result = np.zeros(len(x), dtype=bool)
        for conjunction in self.conjunctions:
            result |= conjunction.holds(x)
        return result

    @property
    def n_variables(self) -> int:
        """The number of Boolean variables, that is of different thresholds on features, in the formula."""
        literals = {(lit.feature, lit.threshold) for c in self.conjunctions for lit in c.literals}
        return len(literals)

    @property
    def vc_dim_trees(self) -> int:
        """VC dimension of the trees of this rank on these variables."""
        return vc_dim_trees(self.n_variables, self.rank)

    @property
    def vc_bound_dnf(self) -> float:
        """Bound on the VC dimension of the formulas with this many conjunctions on these variables."""
        return vc_bound_dnf(self.n_variables, max(1, len(self.conjunctions)))

    def __str__(self) -> str:
        return " or ".join(f"({c})" for c in self.conjunctions) or "false"


def tree_to_dnf(tree: DecisionTreeClassifier, positive: Any = None) -> TreeDNF:
    """Convert a fitted scikit-learn tree into the equivalent DNF formula.

    Parameters
    ----------
    tree : DecisionTreeClassifier
        A fitted tree with one output.
    positive : label, optional
        The class for which the formula is true; the last one when left out.
    """
    classes = list(tree.classes_)
    if positive is not None and positive not in classes:
        raise InvalidParameterError(f"positive must be one of the tree's classes {classes}, however: {positive!r}")
    wanted = classes.index(positive) if positive is not None else len(classes) - 1
    nodes = tree.tree_
    return TreeDNF(
        conjunctions=tuple(_paths(nodes, wanted)),
        rank=rank_of(nodes.children_left.tolist(), nodes.children_right.tolist()),
        n_features=int(tree.n_features_in_),
    )


def _paths(nodes: Any, wanted: int) -> list[Conjunction]:
    """Collect the path to every leaf whose largest class is ``wanted``, from left to right."""
    found = []
    stack: list[tuple[int, tuple[Literal, ...]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left == -1:
            if nodes.value[node][0].argmax() == wanted:
                found.append(Conjunction(path))
            continue
        feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        stack.append((right, (*path, Literal(feature, threshold, negated=True))))
        stack.append((left, (*path, Literal(feature, threshold, negated=False))))
    return found
