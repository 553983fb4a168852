"""Floor 5: who trains, where, and how it is steered: executions, workers, the queue and the supervisor."""
