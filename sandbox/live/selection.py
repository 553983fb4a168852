"""Selection: what one viewer looks at: arm, seed, layer, head, and which pictures are open."""

from dataclasses import dataclass, field

from sandbox.live.feed import Feed
from sandbox.live.ghost import COLUMNS
from sandbox.live.panels import standard_columns

STANDARD_PICTURES = ("trajectories", "attention map")
"""What is sent to a viewer that does not say which pictures are open."""
MOST_OPEN = 64
BATCH = ("loss", "parent/loss")
"""The batch's loss of every step, and the parent's; they travel only while somebody looks at them."""
ALL_HEADS = "all heads"
REGION = "region"
MOST_TOKENS = 2**16 - 1


@dataclass(frozen=True)
class Selection:
    """What a viewer looks at, as places in the hello's lists."""

    arm: int = 0
    seed: int = 0
    layer: int = 0
    head: int = 0
    batch: bool = False
    # What follows changes what travels, but nothing of what has travelled already becomes untrue.
    open: tuple[str, ...] = field(default=STANDARD_PICTURES, compare=False)
    """Kinds of reading whose pictures are open."""
    grid: bool = field(default=False, compare=False)
    """Whether the small pictures of all heads are open."""
    groups: bool = field(default=False, compare=False)
    """Whether the accuracies by group of rows are open."""
    region: tuple[int, int, int, int] | None = field(default=None, compare=False)
    """First and last query and key, exclusive, of the part of a long map that is looked at closely."""
    curves: frozenset[str] = field(default_factory=lambda: standard_columns()[0], compare=False)
    """Columns measured per head that are drawn as curves now."""
    values: frozenset[str] = field(default_factory=lambda: standard_columns()[1], compare=False)
    """Columns measured per head of which every head's present value is shown."""

    @property
    def looked_at(self) -> tuple[object, ...]:
        """What is open, as a key."""
        return self.region, self.open, self.grid, self.groups, self.curves, self.values

    def wants(self, feed: Feed, name: str) -> bool:
        """Whether a recorded series is drawn as a curve now."""
        if name in feed.groups:
            return self.groups
        if "/" not in name or name in COLUMNS:
            return name not in BATCH or self.batch
        return name in self.curves

    def pictures(self, feed: Feed) -> list[str]:
        """The open kinds that the run has, and `kind/all heads` for the small pictures."""
        known = feed.readings()
        kinds = [kind for kind in self.open if kind in known]
        grids = [k for k, arms in known.items() if arms.get(self.arm, {}).get("type") == "AttentionMap"]
        close = [f"{kind}/{REGION} {self.region}" for kind in grids if self.region and kind in kinds]
        return kinds + [f"{kind}/{ALL_HEADS}" for kind in grids if self.grid] + close

    @classmethod
    def read(cls, raw: object, feed: Feed) -> "Selection":
        """A selection from a client's JSON, brought inside what the run has; junk becomes 0."""
        given = raw if isinstance(raw, dict) else {}
        layers, heads = shape_of_heads(feed)

        def place(name: str, count: int) -> int:
            value = given.get(name, 0)
            return min(max(int(value), 0), max(count - 1, 0)) if isinstance(value, int) else 0

        return cls(
            place("arm", len(feed.arms)),
            place("seed", len(feed.seeds)),
            place("layer", layers),
            place("head", heads),
            given.get("batch") is True,
            _words(given.get("open")),
            given.get("grid") is True,
            given.get("groups") is True,
            _region(given.get("region")),
            _columns(given.get("curves"), feed, standard_columns()[0]),
            _columns(given.get("values"), feed, standard_columns()[1]),
        )


def _words(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list):
        return STANDARD_PICTURES
    return tuple(sorted({word for word in raw[:MOST_OPEN] if isinstance(word, str)}))


def _region(raw: object) -> tuple[int, int, int, int] | None:
    """Four places with ends behind their starts; None for anything else."""
    if not isinstance(raw, list) or len(raw) != 4 or not all(type(n) is int for n in raw):
        return None
    q0, q1, k0, k1 = (min(max(n, 0), MOST_TOKENS) for n in raw)
    return (q0, q1, k0, k1) if q0 < q1 and k0 < k1 else None


def _columns(raw: object, feed: Feed, otherwise: frozenset[str]) -> frozenset[str]:
    """Names of the columns whose numbers are given."""
    if not isinstance(raw, list):
        return otherwise
    names = feed.columns()
    return frozenset(names[n] for n in raw[: len(names)] if type(n) is int and 0 <= n < len(names))


def shape_of_heads(feed: Feed) -> tuple[int, int]:
    """Layers and heads of the run's model, (1, 1) until a reading says more."""
    names = feed.head_columns()
    shapes = [rows.values.shape[2:] for (_, name), rows in feed.rows.items() if name in names and rows.count]
    return (max(s[0] for s in shapes), max(s[1] for s in shapes)) if shapes else (1, 1)
