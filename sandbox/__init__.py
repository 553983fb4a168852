"""Attention Conditioning Sandbox: train small transformers live and see what conditioning does."""
