"""DNF-Net written a second time, from the equations alone: numpy, float64, dense indicators, broadcasting.

Slow and large on purpose. It shares no code with the package; the tests copy a network's numbers into it.
"""

import numpy as np


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def wiring(n_formulas, conjunctions, lengths):
    """Indicator matrices: literals × conjunctions, conjunctions × formulas, and literals × formulas."""
    of_conjunction, of_formula = [], []
    for formula in range(n_formulas):
        for j in range(conjunctions[formula % len(conjunctions)]):
            of_conjunction += [len(of_formula)] * lengths[j % len(lengths)]
            of_formula.append(formula)
    c = np.zeros((len(of_conjunction), len(of_formula)))
    c[np.arange(len(of_conjunction)), of_conjunction] = 1
    d = np.zeros((len(of_formula), n_formulas))
    d[np.arange(len(of_formula)), of_formula] = 1
    return c, d, c @ d


def masks(m_t, m_s, epsilon=1.0):
    """T(m_t) ⊙ m_s, formulas × features."""
    return (np.abs(m_t) > epsilon) * m_s


def dnnf(x, w, b, gate, n_formulas, conjunctions, lengths):
    """Equations 1 and 2 with the masks of Section 2.3; w is features × literals, as in the paper."""
    c, d, literal_formula = wiring(n_formulas, conjunctions, lengths)
    literals = np.tanh(x @ (w * (literal_formula @ gate).T) + b)
    ands = np.tanh(literals @ c - c.sum(0) + 1.5)
    return np.tanh(ands @ d + d.sum(0) - 1.5)


def localization(x, mu, sigma, tau):
    """Section 2.4, with the tensor of rows × formulas × features that the package must never make."""
    norm = np.sqrt((((x[:, None, :] - mu[None]) * sigma[None]) ** 2).sum(-1))
    scaled = np.exp(-norm) * sigmoid(tau)
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def penalty(m_t, m_s, alpha, beta, epsilon=1.0):
    """Mean over the formulas of the modified elastic net."""
    values = []
    for t, s in zip(m_t, m_s, strict=True):
        r2 = abs(np.sum((t * s) ** 2) / np.sum(s) - beta * epsilon**2)
        r1 = abs(np.sum(np.abs(t * s)) / np.sum(s) - beta * epsilon)
        values.append((1 - sigmoid(alpha)) / 2 * r2 + sigmoid(alpha) * r1)
    return np.mean(values)
