"""Tests of instant mode: knobs, the worker's turns, the protocol, and the page."""
