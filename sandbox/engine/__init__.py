"""Floor 3, engine: training a group of runs of one arm, as rows of one flat buffer."""
