"""Everything that a worker needs, imported once in the fork server; no torch operation may run here."""

import gc

import sklearn.decomposition  # noqa: F401  (the plane of the trajectories)
import torch
import torch.optim  # noqa: F401

import sandbox.diagnostics
import sandbox.engine.torch_engine
import sandbox.experiment.describe
import sandbox.runner.admission
import sandbox.runner.execution
import sandbox.runner.instant.worker  # noqa: F401

# What is loaded now lives as long as the server: no collection in a worker needs to look at it,
# and the pages stay shared.
gc.freeze()
