"""The catalogue as the trainer describes it, made once for all tests of the pages."""

import json
from functools import cache
from pathlib import Path

from sandbox.experiment.describe import describe
from sandbox.foundations.catalogue import Catalogue
from sandbox.runner.catalogue_file import write_catalogue


@cache
def text() -> str:
    """The catalogue as JSON."""
    return json.dumps(describe())


def catalogue() -> Catalogue:
    """A fresh copy of it."""
    return Catalogue(json.loads(text()))


def put_into(runs: Path) -> None:
    """Write the catalogue where the pages look for it."""
    runs.mkdir(parents=True, exist_ok=True)
    write_catalogue(runs, text())
