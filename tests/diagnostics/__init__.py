"""Diagnostics: known answers on hand-made snapshots, contracts, and the real models."""
