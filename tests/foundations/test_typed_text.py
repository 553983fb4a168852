"""Tests of what is said about typed values, and of TOML that is refused unread."""

import time

import pytest

from sandbox.foundations.errors import InvalidPlain
from sandbox.foundations.typed_text import refuse_costly_toml, shown


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_value_is_shown_as_python_writes_it_and_cut():
    assert shown("a") == "'a'"
    assert shown("x" * 200) == "'" + "x" * 79
    assert shown([1, 2], 3) == "[1,"


def test_values_without_a_text_are_named_instead():
    assert shown(10**5000) == "a number of thousands of digits"
    assert shown([10**5000]) == "a number of thousands of digits"
    assert shown(nested(100_000)) == "tables or lists nested too deeply"


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 31 + " = 1",
        "[a" + ".a" * 31 + "]",
        "x = 'open # \" text'\n" + '"a"."b"' * 31 + " = 1",
        "x = '''one\ntwo'''" + ".a" * 31,
        'x = "\\""' + ".a" * 31,
        'x = """four""""' + ".a" * 31,
    ],
)
def test_a_line_of_many_dotted_keys_is_refused(text):
    with pytest.raises(InvalidPlain, match="dots outside texts"):
        refuse_costly_toml(text)


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c = 0.5\n" * 100,
        f'name = "{"." * 100}"',
        f"name = '{'.' * 100}'",
        f"# {'.' * 100}\nsteps = 3",
        f'name = """\n{"." * 100}\n"""',
        "name = '''\nit's " + "." * 100 + "'''",
    ],
)
def test_dots_in_texts_comments_and_short_keys_pass(text):
    refuse_costly_toml(text)


@pytest.mark.parametrize("piece", ['\\"""', "'''\\", '"', "'", '"\\', "#'\"", '""" \\'])
def test_the_look_itself_takes_linear_time(piece):
    began = time.perf_counter()
    refuse_costly_toml(piece * (100_000 // len(piece)))
    assert time.perf_counter() - began < 1.0
