"""Golden runs: short trainings whose numbers may only move on purpose."""
