"""Neither a worker's start nor a reading loads torch's compiler, which takes a second of every process."""

from pathlib import Path

import pytest

from tests.diagnostics.test_diagnostics_contract import MODELS
from tests.fresh_process import printed_by

SCRIPT = """
import sys
import sandbox.runner.preload
from sandbox.diagnostics import read_all
from tests.diagnostics.test_diagnostics_contract import MODELS, group, look
for name in MODELS:
    view = look(group(name, (0,)))
    print(len(read_all(view, "cheap")) > 5 and len(read_all(view, "costly")) > 5)
print([name for name in ("torch._dynamo", "torch._inductor") if name in sys.modules])
"""


@pytest.mark.slow
def test_a_worker_and_every_reading_leave_it_unloaded(repository: Path) -> None:
    assert printed_by(SCRIPT, repository).split() == [*["True"] * len(MODELS), "[]"]
