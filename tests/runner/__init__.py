"""Tests of floor 5."""
