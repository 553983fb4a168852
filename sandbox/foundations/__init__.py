"""Floor 0: registry, knobs, plain form, seeding, probes and errors; nothing here knows a method."""
