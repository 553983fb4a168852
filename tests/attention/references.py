"""Attention written as loops from the papers' formulas, for one head of one sequence without padding."""

import math

import numpy as np

from sandbox.attention.causal import Causal
from sandbox.attention.cross_covariance import CrossCovariance
from sandbox.attention.dual_axis import DualAxis
from sandbox.attention.family import Mechanism
from sandbox.attention.linear import Linear
from sandbox.attention.nystrom import Nystrom
from sandbox.attention.shifted_window import ShiftedWindow
from sandbox.attention.softmax import Softmax
from sandbox.attention.window import Window


def softmax_of(scores):
    """exp(s_j) / sum exp(s_j) of one row."""
    powers = [math.exp(s) for s in scores]
    return [p / sum(powers) for p in powers]


def over_keys(q, k, v, sees):
    """Softmax attention where query i may see the keys of which sees(i, j) is true."""
    out = np.zeros_like(v)
    for i in range(len(q)):
        keys = [j for j in range(len(k)) if sees(i, j)]
        row = softmax_of([q[i] @ k[j] / math.sqrt(q.shape[1]) for j in keys])
        for p, j in zip(row, keys, strict=True):
            out[i] += p * v[j]
    return out


def swin_windows(n, window, shift):
    """Which window each token falls into, by Swin's padding, cyclic shift, partition and mask."""
    if window >= n:
        return [0] * n
    padded = -(-n // window) * window
    rolled = [(i + shift) % padded for i in range(padded)]  # the token that stands at place i
    label = [None] * padded
    for place, token in enumerate(rolled):
        wrapped = place >= padded - shift
        label[token] = (place // window, wrapped)
    return label[:n]


def windowed(window, shift):
    def attend(q, k, v, length, **_):
        label = swin_windows(length, window, shift)
        return over_keys(q, k, v, lambda i, j: label[i] == label[j])

    return attend


def cross_covariance(q, k, v, temperature=1.0, **_):
    d = q.shape[1]
    out = np.zeros_like(v)
    for a in range(d):
        row = softmax_of(
            [
                temperature
                * sum(q[n, a] * k[n, b] for n in range(len(q)))
                / math.sqrt(sum(q[n, a] ** 2 for n in range(len(q))))
                / math.sqrt(sum(k[n, b] ** 2 for n in range(len(q))))
                for b in range(d)
            ]
        )
        for n in range(len(q)):
            out[n, a] = sum(row[b] * v[n, b] for b in range(d))
    return out


def channel_groups(q, k, v, **_):
    d = q.shape[1]
    out = np.zeros_like(v)
    for a in range(d):
        row = softmax_of([sum(q[n, a] * k[n, b] for n in range(len(q))) / math.sqrt(d) for b in range(d)])
        for n in range(len(q)):
            out[n, a] = sum(row[b] * v[n, b] for b in range(d))
    return out


def linear(q, k, v, **_):
    def phi(x):
        return np.array([value + 1 if value > 0 else math.exp(value) for value in x])

    out = np.zeros_like(v)
    for i in range(len(q)):
        match = [phi(q[i]) @ phi(k[j]) for j in range(len(k))]
        out[i] = sum(m * v[j] for j, m in enumerate(match)) / sum(match)
    return out


def nystrom(landmarks, steps=6):
    def attend(q, k, v, **_):
        n, d = q.shape
        if landmarks >= n:
            return over_keys(q, k, v, lambda i, j: True)
        q, k = q / d**0.25, k / d**0.25
        parts = [[i for i in range(n) if i * landmarks // n == s] for s in range(landmarks)]
        qm = np.array([np.mean(q[part], axis=0) for part in parts])
        km = np.array([np.mean(k[part], axis=0) for part in parts])
        f, a, b = (np.array([softmax_of(row) for row in x @ y.T]) for x, y in ((q, km), (qm, km), (qm, k)))
        z, one = a.T / max(a.sum(axis=0)), np.eye(landmarks)
        for _ in range(steps):
            az = a @ z
            z = z @ (13 * one - az @ (15 * one - az @ (7 * one - az))) / 4
        return f @ z @ (b @ v)

    return attend


def convolution(v, kernel):
    """Each channel with the kernel, zeros beyond the ends."""
    out, middle = np.zeros_like(v), len(kernel) // 2
    for i in range(len(v)):
        for tap, weight in enumerate(kernel):
            if 0 <= i + tap - middle < len(v):
                out[i] += weight * v[i + tap - middle]
    return out


CASES: dict[str, tuple[Mechanism, int, object]] = {
    "softmax": (Softmax(), 0, lambda q, k, v, **_: over_keys(q, k, v, lambda i, j: True)),
    "causal": (Causal(), 0, lambda q, k, v, **_: over_keys(q, k, v, lambda i, j: j <= i)),
    "window": (Window(window=3), 1, windowed(3, 0)),
    "window of the whole length": (Window(window=7), 0, windowed(7, 0)),
    "shifted-window": (ShiftedWindow(window=4), 0, windowed(4, 2)),
    "shifted-window, odd": (ShiftedWindow(window=3), 2, windowed(3, 1)),
    "shifted-window, plain layer": (ShiftedWindow(window=4), 1, windowed(4, 0)),
    "shifted-window, Swin's order": (ShiftedWindow(window=4, first="plain"), 1, windowed(4, 2)),
    "cross-covariance": (CrossCovariance(), 0, cross_covariance),
    "dual-axis, channels": (DualAxis(), 0, channel_groups),
    "dual-axis, windows": (DualAxis(window=3), 1, windowed(3, 0)),
    "dual-axis, DaViT's order": (DualAxis(window=3, first="windows"), 1, channel_groups),
    "linear": (Linear(), 0, linear),
    "nystrom": (Nystrom(landmarks=3, convolution=False), 0, nystrom(3)),
    "nystrom, one step": (Nystrom(landmarks=2, steps=1, convolution=False), 0, nystrom(2, 1)),
    "nystrom, landmarks = length": (Nystrom(landmarks=7, convolution=False), 0, nystrom(7)),
    "nystrom with convolution": (Nystrom(landmarks=3, taps=5), 0, nystrom(3)),
}
"""Settings, the layer that is built, and the reference of its head outputs before any skip.

A reference gets the visible tokens and `length`, the places of the sequence with its padding.
"""
