"""The words and signs of the app, written out once. The texts are Markdown and come from nobody else."""

GLOSSARY = (
    ("Arm", "One named variant of the model: what is conditioned, how it starts, where it is normalized."),
    ("Group", "One arm with all its seeds, trained together."),
    ("Experiment", "A task, a model, arms, seeds and a step limit; it fixes every number."),
    ("Run", "One execution of an experiment. It lives on the server and goes on when the page is closed."),
    ("Step", "One optimizer update."),
    ("Seed", "All randomness comes from it: the same seed gives every arm the same data and batches."),
    ("Snapshot", "The weights and readings of every arm and seed at one step."),
    ("Reading", "What a diagnostic answered at a snapshot, with its precision and method."),
    ("Held-out", "Rows kept for testing, drawn solid; in an overlapping split, some stand in train too."),
    ("Chance", "Accuracy of guessing all classes equally often."),
    ("Majority class", "Accuracy of always answering the most frequent class."),
    ("Paired difference", "Mean over seeds of an arm's number less the standard arm's of the same seed."),
    (
        "Band",
        "Least to greatest seed or, by choice, the 95\u00a0% Student interval of the mean; needs two seeds.",
    ),
    ("Diverged", "A loss that became NaN or infinite. The other seeds are not touched by it."),
    ("Probe sequence", "A fixed sequence that is only looked at, to read attention and embeddings."),
    ("Disjoint split", "No held-out row stands in train; the overlapping split draws both freely."),
)  # fmt: skip

NOTATION = (
    ("$X$", "Tokens of one sequence, $N \\times D$, one row per token"),
    ("$W_Q, W_K, W_V$", "Query, key and value matrices of one head, $D \\times d$"),
    ("$C$", "The correction that spectral conditioning adds to a projection; never trained"),
    ("$\\lambda$", "Shift of the identity variant: $C = \\lambda I$"),
    ("$P$", "Attention weights: row softmax of the scores"),
    ("$A$", "Output of one head, $P X W_V$"),
    (
        "$\\kappa(Z)$",
        "Condition number, the largest singular value over the smallest; infinite for singular matrices",
    ),
    (
        "$H(p)$",
        "Entropy of an attention row in nats; normalized by the logarithm of the number of visible keys",
    ),
    (
        "$\\theta(p)$",
        "$4 \\max_S p(S)(1 - p(S))$: how strongly a softmax row can react to its scores, from 0 to 1",
    ),
    ("$p_{\\max}$", "The largest weight of a row"),
    ("$p, L, k$", "Modulus, sequence length and number of terms of sparse modular addition"),
)

CERTAINTY = (
    ("A", "Stated by the paper or its official code"),
    ("B", "Two independent accounts agree and the mathematics checks out"),
    ("C", "Derived here and verified numerically, not seen in the paper"),
    ("D", "Unknown: nothing is claimed"),
)

KEYS = (
    ("Ctrl+Enter", "Train with the settings in the rail"),
    ("Tab, Shift+Tab", "Move through all controls"),
    ("Arrow keys", "Move within a group of choices, or the playhead when it has the focus"),
)
