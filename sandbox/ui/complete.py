"""Complete: an experiment's plain form with every value in it, checked against the catalogue.

The trainer's process checks it again through the settings' own classes; what is checked here are
names, kinds, bounds and sizes, so that a link or a file is answered at once and changes nothing.
"""

from typing import Any

from sandbox.foundations.catalogue import Catalogue
from sandbox.foundations.errors import InvalidExperiment, InvalidPlain
from sandbox.foundations.spec import STANDARD
from sandbox.ui.arms import parse_arm
from sandbox.ui.settings import Plain, arm_plain, knob_values, seeds, table_of, variant

DEFAULTS = {"task": "sparse modular addition", "architecture": "encoder", "optimizer": "adamw"}
MAX_ARMS = 16
FORK = "fork"
"""What a run goes on from: no setting of the Sandbox, where all starts at step 0, and left out here."""


def complete(catalogue: Catalogue, plain: Any) -> Plain:
    """The canonical form of `plain`: every value that defines the science, defaults included.

    Raises a SandboxError with one sentence for an unknown key, a wrong kind, a value out of range.
    """
    try:
        return _complete(catalogue, plain)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        # A stranger's value that Python itself cannot write, compare or look up.
        raise InvalidPlain(f"The experiment has a value that cannot be read: {str(error)[:120]}.") from error


def _complete(catalogue: Catalogue, plain: Any) -> Plain:
    table = table_of(plain, "The experiment")
    known = ["schema", "task", "model", "optimizer", *catalogue.pace, "seeds", "arms", FORK]
    for key in table:
        if key not in known:
            raise InvalidPlain(f"The experiment has no setting {str(key)[:80]!r}; it has {', '.join(known)}.")
    schema = table.get("schema", catalogue.schema)
    if isinstance(schema, bool) or schema != catalogue.schema:
        raise InvalidPlain(
            f"The experiment has schema {repr(schema)[:40]}; this version reads schema {catalogue.schema}."
        )
    return {
        "schema": catalogue.schema,
        "task": variant(catalogue, "task", table.get("task", DEFAULTS["task"]), "task"),
        "model": variant(catalogue, "architecture", table.get("model", DEFAULTS["architecture"]), "model"),
        "optimizer": variant(
            catalogue, "optimizer", table.get("optimizer", DEFAULTS["optimizer"]), "optimizer"
        ),
        **knob_values(catalogue.pace, table, "experiment"),
        "seeds": seeds(table.get("seeds", [0])),
        "arms": _arms(catalogue, table.get("arms", [{"name": STANDARD}])),
    }


def _arms(catalogue: Catalogue, plain: Any) -> list[Plain]:
    if not isinstance(plain, list):
        raise InvalidPlain(f"arms is {repr(plain)[:80]}; it must be a list of arms.")
    if not 1 <= len(plain) <= MAX_ARMS:
        raise InvalidExperiment(f"There are {len(plain)} arms; an experiment has 1 to {MAX_ARMS}.")
    arms = [parse_arm(catalogue, arm) if isinstance(arm, str) else arm_plain(catalogue, arm) for arm in plain]
    names = [arm["name"] for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidExperiment(f"Two arms are named {twice!r}; give each its own name.")
    return arms
