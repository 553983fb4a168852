"""The fixed vocabulary: order, there and back, and what has no token."""

import subprocess
import sys

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.tasks.listops_grammar import InvalidExpression
from sandbox.tasks.listops_vocabulary import (
    CLOSE_CODE,
    CLS_CODE,
    DIGIT_CODE,
    OPERATOR_CODE,
    PAD_CODE,
    VOCABULARY,
    decode,
    encode,
    token_labels,
)


def test_the_vocabulary_stands_in_the_published_order():
    assert " ".join(VOCABULARY) == "PAD CLS 0 1 2 3 4 5 6 7 8 9 [MIN [MAX [MED [SM [FIRST [LAST ]"
    assert (PAD_CODE, CLS_CODE) == (0, 1)
    assert VOCABULARY[DIGIT_CODE] == "0"
    assert VOCABULARY[OPERATOR_CODE] == "[MIN"
    assert VOCABULARY[CLOSE_CODE] == "]"


def test_an_expression_is_encoded_in_its_one_spelling():
    codes = encode("( ( [ MAX 3 ) [SUM_MOD 9, 0 X ) ]", max_length=9)
    assert codes.tolist() == [13, 5, 15, 11, 2, 18, 18, 0, 0]
    assert codes.dtype == np.uint8
    assert decode(codes) == "[MAX 3 [SM 9 0 ] ]"


def test_labels_keep_padding_and_decoding_drops_it():
    codes = np.array([CLS_CODE, 14, 2, 18, PAD_CODE], dtype=np.uint8)
    assert token_labels(codes) == ["CLS", "[MED", "0", "]", "PAD"]
    assert decode(codes) == "[MED 0 ]"


def test_a_leaf_above_nine_is_refused_by_name():
    with pytest.raises(InvalidData, match="The number 12 at character 8 "):
        encode("[MAX 8 12 6 3 ]")


def test_longer_text_than_the_model_reads_is_refused_with_both_lengths():
    assert encode("[MAX 1 2 ]", max_length=4).tolist() == [13, 3, 4, 18]
    with pytest.raises(InvalidData, match="has 5 tokens but the model reads at most 4"):
        encode("[MAX 1 2 3 ]", max_length=4)


def test_text_that_does_not_parse_is_not_encoded():
    with pytest.raises(InvalidExpression):
        encode("[MAX 1 2")


@pytest.mark.parametrize("code", [-1, 19])
def test_a_code_outside_the_vocabulary_is_refused(code):
    with pytest.raises(InvalidData, match="Token code"):
        decode([code])


def test_the_listops_modules_need_numpy_alone(repository):
    """Asked behind the package's back, whose other tasks may need torch."""
    package = repository / "sandbox" / "tasks"
    imports = ", ".join(f"sandbox.tasks.{path.stem}" for path in package.glob("listops_*.py"))
    code = (
        "import sys, types; package = sys.modules['sandbox.tasks'] = types.ModuleType('sandbox.tasks'); "
        f"package.__path__ = [{str(package)!r}]; import {imports}; "
        "assert not {'torch', 'scipy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=repository)
