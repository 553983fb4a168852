"""ListOps expressions as text: reading them into a tree and working out their value."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sandbox.foundations.errors import SandboxError

OPERATORS = ("MIN", "MAX", "MED", "SM", "FIRST", "LAST")
CLOSE = "]"
MODULUS = 10  # SM is the sum modulo 10 at every node (Nangia & Bowman 2018, section 3)
SPELLINGS = {"MEDIAN": "MED", "SUM_MOD": "SM"} | {name: name for name in OPERATORS}
STAND_ALONE_CLOSE = "X"  # how some files write the closing bracket
_PIECES = re.compile(r"\[|\]|[^\s(),\[\]]+")  # parentheses and commas carry nothing


class InvalidExpression(SandboxError, ValueError):
    """Text that is no ListOps expression; `position` counts characters from 0, the message from 1."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"This is no ListOps expression at character {position + 1}: {reason}.")
        self.reason = reason
        self.position = position


class Token(NamedTuple):
    """A token in its one spelling (`[MAX`, `7`, `]`) and the character where it starts."""

    text: str
    position: int


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Node:
    """A node of an expression's tree; `start` and `stop` are the slice of tokens that it covers.

    Equality is identity and the repr is shallow, so that no depth of nesting meets Python's recursion.
    """

    operator: str | None
    children: tuple["Node", ...]
    value: int
    start: int
    stop: int

    def __repr__(self) -> str:
        name = "digit" if self.operator is None else f"{self.operator} of {len(self.children)}"
        return f"<{name}, value {self.value}, tokens {self.start}:{self.stop}>"


def _median(values: Sequence[int]) -> int:
    """The median, truncated to a whole number: the mean of the two middle values for an even count."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


_MEANING: dict[str, Callable[[Sequence[int]], int]] = {
    "MIN": min,
    "MAX": max,
    "MED": _median,
    "SM": lambda values: sum(values) % MODULUS,
    "FIRST": lambda values: values[0],
    "LAST": lambda values: values[-1],
}


def apply(operator: str, values: Sequence[int]) -> int:
    """Work out one operator over at least one non-negative integer (Tay et al. 2021)."""
    return _MEANING[operator](values)


def scan(expression: str) -> Iterator[Token]:
    """Yield the tokens in their one spelling; raises InvalidExpression at the first that has none.

    Parentheses and commas are dropped, `[ MAX` is joined, a stand-alone `X` closes, MEDIAN and SUM_MOD
    are MED and SM.
    """
    opened: int | None = None
    for piece in _PIECES.finditer(expression):
        text, position = piece.group(), piece.start()
        if opened is not None:
            if text not in SPELLINGS:
                raise InvalidExpression(_after_bracket(text), position)
            yield Token("[" + SPELLINGS[text], opened)
            opened = None
        elif text == "[":
            opened = position
        elif text in (CLOSE, STAND_ALONE_CLOSE):
            yield Token(CLOSE, position)
        elif text.isascii() and text.isdigit():
            yield Token(text, position)
        else:
            raise InvalidExpression(_stray(text), position)
    if opened is not None:
        raise InvalidExpression(_after_bracket(""), opened)


def _after_bracket(text: str) -> str:
    names = ", ".join(OPERATORS)
    if text in ("", "[", CLOSE) or text.isdigit():
        return f"'[' needs an operator after it; the operators are {names}"
    return f"unknown operator '{_short(text)}'; the operators are {names}"


def _stray(text: str) -> str:
    if text in SPELLINGS:
        return f"operator '{text}' without '['; the brackets of this text are lost, write '[{text}'"
    if text.startswith(("-", "\N{MINUS SIGN}")):
        return f"negative number '{_short(text)}'; arguments are whole numbers from 0"
    return f"unknown token '{_short(text)}'; write whole numbers from 0, operators like '[MAX', and ']'"


def _short(text: str, limit: int = 24) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(slots=True)
class _Open:
    operator: str
    position: int
    start: int
    children: list[Node]


def parse(expression: str) -> Node:
    """Read an expression into its tree, every node with its value; nesting is bounded by memory alone.

    Raises InvalidExpression (a ValueError) with `reason` and `position`: empty text, unknown tokens,
    negative numbers, an operator without `[`, without arguments or never closed, and trailing tokens.
    """
    stack: list[_Open] = []
    root: Node | None = None
    for index, (text, position) in enumerate(scan(expression)):
        if root is not None:
            raise InvalidExpression(f"trailing token '{_short(text)}' after the expression's end", position)
        if text.startswith("["):
            stack.append(_Open(text[1:], position, index, []))
            continue
        if text == CLOSE:
            if not stack:
                raise InvalidExpression("']' closes nothing; an operator must stand before it", position)
            node = _closed(stack.pop(), index + 1, position)
        else:
            node = Node(None, (), _whole_number(text, position), index, index + 1)
        if stack:
            stack[-1].children.append(node)
        else:
            root = node
    if stack:
        name, position = stack[-1].operator, stack[-1].position
        raise InvalidExpression(f"unclosed operator '[{name}'; close it with ']'", position)
    if root is None:
        raise InvalidExpression("the text is empty; write an expression like '[MAX 2 9 ]'", 0)
    return root


def _closed(opening: _Open, stop: int, position: int) -> Node:
    if not opening.children:
        raise InvalidExpression(f"operator '[{opening.operator}' has no arguments; give it one", position)
    value = apply(opening.operator, [child.value for child in opening.children])
    return Node(opening.operator, tuple(opening.children), value, opening.start, stop)


def _whole_number(text: str, position: int) -> int:
    try:
        return int(text)
    except ValueError:  # Python refuses to read thousands of digits
        raise InvalidExpression(f"a number of {len(text)} digits is too long to read", position) from None


def evaluate(expression: str) -> int:
    """Work out a ListOps expression; raises InvalidExpression (a ValueError) with `reason` and `position`."""
    return parse(expression).value


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Yield every node in reading order with its nesting level: the root is at 1."""
    waiting = [(root, 1)]
    while waiting:
        node, level = waiting.pop()
        yield node, level
        waiting.extend((child, level + 1) for child in reversed(node.children))


def depth(root: Node) -> int:
    """Nested operator levels: 0 for a digit alone, 1 for an operator over digits."""
    return max(level if node.operator else level - 1 for node, level in walk(root))


def root_operator(root: Node) -> str | None:
    """The outermost operator, or None for a digit alone."""
    return root.operator


def length(root: Node) -> int:
    """Tokens: 1 per number, 2 per operator (opening token and `]`); parentheses never count."""
    return root.stop - root.start


def write(root: Node) -> str:
    """The expression in its one spelling, `[MAX 2 [MIN 4 7 ] ]`."""
    pieces: list[str] = []
    waiting: list[Node | str] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.operator is None:
            pieces.append(str(node.value))
        else:
            pieces.append("[" + node.operator)
            waiting.append(CLOSE)
            waiting.extend(reversed(node.children))
    return " ".join(pieces)
