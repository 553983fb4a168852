"""Floor 0 on its own: registry, knobs, plain form, seeding, probes, readings."""
