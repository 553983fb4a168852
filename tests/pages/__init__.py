"""Tests of pages, run as Streamlit runs them."""
