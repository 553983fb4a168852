"""Tests of texts, settings and widgets of the pages."""
