"""The fixed ListOps vocabulary: which number stands for which token, the same in every process."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Integer, UInt8

from sandbox.foundations.errors import InvalidData
from sandbox.tasks.listops_grammar import CLOSE, OPERATORS, length, parse, scan

VOCABULARY = ("PAD", "CLS", *"0123456789", *("[" + name for name in OPERATORS), CLOSE)
"""Token texts in the order of their codes; saved with every checkpoint, never derived from a set."""

PAD_CODE = 0
CLS_CODE = 1
DIGIT_CODE = 2  # the code of digit 0
OPERATOR_CODE = 12  # the code of [MIN; the others follow in the order of OPERATORS
CLOSE_CODE = 18
LARGEST_LEAF = 9

_CODES = {text: code for code, text in enumerate(VOCABULARY)}


def encode(expression: str, max_length: int | None = None) -> UInt8[np.ndarray, " token"]:
    """Codes of a valid expression, PAD-padded to `max_length` if given.

    Raises InvalidExpression for text that does not parse, InvalidData for a leaf above 9 (the model has
    no token for it) or for more than `max_length` tokens.
    """
    n_tokens = length(parse(expression))
    if max_length is not None and n_tokens > max_length:
        raise InvalidData(
            f"The expression has {n_tokens} tokens but the model reads at most {max_length}; shorten it."
        )
    codes = np.full(n_tokens if max_length is None else max_length, PAD_CODE, dtype=np.uint8)
    codes[:n_tokens] = [_code(token.text, token.position) for token in scan(expression)]
    return codes


def _code(text: str, position: int) -> int:
    if text.isdigit():
        if int(text) > LARGEST_LEAF:
            raise InvalidData(
                f"The number {text[:24]} at character {position + 1} has no token; the model reads digits "
                f"0 to {LARGEST_LEAF}, so use smaller numbers."
            )
        return DIGIT_CODE + int(text)
    return _CODES[text]


def token_labels(codes: Integer[np.ndarray, " token"] | Iterable[int]) -> list[str]:
    """The text of each code, PAD and CLS included, for the axes of a picture.

    Raises InvalidData for a code outside the vocabulary.
    """
    labels = []
    for code in codes:
        if not 0 <= code < len(VOCABULARY):
            raise InvalidData(f"Token code {code} is unknown; codes run from 0 to {len(VOCABULARY) - 1}.")
        labels.append(VOCABULARY[code])
    return labels


def decode(codes: Integer[np.ndarray, " token"] | Iterable[int]) -> str:
    """The expression that codes spell, without PAD and CLS; raises InvalidData for an unknown code."""
    return " ".join(label for label in token_labels(codes) if label not in ("PAD", "CLS"))
