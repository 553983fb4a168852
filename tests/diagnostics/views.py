"""Hand-made snapshots whose answers can be worked out on paper."""

from collections.abc import Mapping

import numpy as np

from sandbox.diagnostics import Probe, SnapshotView


def probe(
    tokens: np.ndarray, visible: np.ndarray | None = None, classes: np.ndarray | None = None, **more: object
) -> Probe:
    """A probe batch over the tokens "0", "1", ...; everything visible, class = sequence number mod 2."""
    tokens = np.asarray(tokens, dtype=np.int64)
    settings = {
        "tokens": tokens,
        "visible": np.ones(tokens.shape, dtype=bool) if visible is None else visible,
        "classes": np.arange(len(tokens)) % 2 if classes is None else classes,
        "token_labels": tuple(map(str, range(int(tokens.max()) + 1))),
        "class_labels": ("even", "odd"),
        "source": "a batch made by hand",
    }
    return Probe(**{**settings, **more})  # type: ignore[arg-type]


def view(
    batch: Probe,
    trace: Mapping[str, np.ndarray] | None = None,
    projections: Mapping[str, np.ndarray] | None = None,
    basis: dict[str, np.ndarray] | None = None,
    step: int = 0,
) -> SnapshotView:
    """A snapshot of as many seeds as the arrays have rows."""
    arrays = [*(trace or {}).values(), *(projections or {}).values()]
    return SnapshotView(
        step=step,
        seeds=tuple(range(len(arrays[0]) if arrays else 1)),
        probe=batch,
        trace=trace or {},
        projections=projections or {},
        basis={} if basis is None else basis,
    )


def one_run(whole: SnapshotView, run: int) -> SnapshotView:
    """The same snapshot with a single seed."""
    return whole.for_run(run)


def visual_view(n_runs: int = 3, n_sequences: int = 16, n_tokens: int = 5, width: int = 2) -> SnapshotView:
    """A snapshot like the visual model's with random numbers; the first two tokens decide the class."""
    rng = np.random.default_rng(6)
    tokens = rng.integers(0, 2, (n_sequences, n_tokens))
    table = rng.normal(size=(n_runs, 2, n_tokens, width))
    embedding = np.stack([table[:, tokens[:, t], t] for t in range(n_tokens)], axis=2)
    attention = softmax(rng.normal(size=(n_runs, n_sequences, 1, 1, n_tokens)))
    matrix = rng.normal(size=(n_runs, 1, 1, width, width))
    values = embedding @ matrix[:, 0]
    trace = {
        "embedding": embedding,
        "attention.weights": attention,
        "attention.values": values,
        "xi": (attention[:, :, 0] @ values)[:, :, 0],
        "logits": np.random.default_rng(8).normal(size=(n_runs, n_sequences, 2)),
    }
    return view(probe(tokens, n_prefix=2), trace, {"value": matrix})


def softmax(scores: np.ndarray, visible: np.ndarray | None = None) -> np.ndarray:
    """Softmax over the last axis in float32, zero on hidden keys (batch key)."""
    if visible is not None:
        scores = np.where(visible[:, None, None, :], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def random_view(
    n_runs: int = 3,
    n_sequences: int = 6,
    n_tokens: int = 5,
    n_layers: int = 2,
    n_heads: int = 2,
    width: int = 8,
    padded: bool = True,
    sharpness: float = 2.0,
) -> SnapshotView:
    """An encoder-like snapshot with random numbers, the later sequences padded."""
    rng = np.random.default_rng(5)
    tokens = rng.integers(0, 3, (n_sequences, n_tokens))
    visible = np.ones(tokens.shape, dtype=bool)
    if padded:
        visible[1, 3:] = False
        visible[2, 1:] = False
    table, places = rng.normal(size=(n_runs, 3, width)), rng.normal(size=(n_runs, n_tokens, width))
    trace = {
        "embedding": (table[:, tokens] + places[:, None]).astype(np.float32),
        "readout": rng.normal(size=(n_runs, n_sequences, width)).astype(np.float32),
        "logits": np.random.default_rng(8).normal(size=(n_runs, n_sequences, 2)).astype(np.float32),
    }
    for layer in range(n_layers):
        scores = sharpness * rng.normal(size=(n_runs, n_sequences, n_heads, n_tokens, n_tokens))
        trace[f"blocks.{layer}.attention.weights"] = softmax(scores, visible)
    shape = (n_runs, n_layers, n_heads, width, width // n_heads)
    projections = {name: rng.normal(size=shape).astype(np.float32) for name in ("query", "key", "value")}
    return view(probe(tokens, visible), trace, projections)
