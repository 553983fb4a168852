"""The native engine: compiled kernels for the settings that matter live (docs/engine.md)."""
