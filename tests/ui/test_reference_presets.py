"""The Reference page names a preset for every method that one can show."""

from sandbox.ui.reference import presets_with
from tests.ui import described


def test_every_method_stands_in_a_preset() -> None:
    catalogue = described.catalogue()
    families = [family for family in catalogue.families if family != "diagnostic"]
    missing = {k for f in families for k in catalogue.families[f] if not presets_with(catalogue, f, k)}
    assert missing == set()
