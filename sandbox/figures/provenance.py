"""How the numbers of a figure came about, in words."""

from sandbox.foundations.readings import Provenance


def provenance(found: Provenance) -> tuple[str, ...]:
    """How the numbers came about, as short sentences."""
    tolerance = f"tolerance {found.tolerance:.3g}" if found.tolerance else ""
    sample = f"sample size {found.sample_size}" if found.sample_size else ""
    words = (f"{found.exactness}, {found.precision}", found.method, tolerance, sample, found.note)
    return tuple(word for word in words if word)
