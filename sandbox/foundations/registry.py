"""Families of interchangeable ideas: one file per idea, found by importing its folder."""

import pkgutil
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, NoReturn, TypeVar

from sandbox.foundations.errors import UnknownVariant

V = TypeVar("V")


class Registry(dict[str, type[V]], Generic[V]):
    """The variants of one family by kind, in the order a menu lists them."""

    def __init__(self, family: str) -> None:
        super().__init__()
        self.family = family

    def register(self, kind: str) -> Callable[[type[V]], type[V]]:
        """Enter the decorated class under `kind`; a kind already taken is a bug."""
        if kind in self:
            raise ValueError(f"two {self.family} variants are named {kind!r}")

        def enter(variant: type[V]) -> type[V]:
            variant.kind = kind  # type: ignore[attr-defined]
            self[kind] = variant
            return variant

        return enter

    def __missing__(self, kind: str) -> NoReturn:
        nearest(self.family, kind, self)


def nearest(family: str, name: object, known: Iterable[str]) -> NoReturn:
    """Raise UnknownVariant with the nearest known name, or with all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(names)}."
    raise UnknownVariant(f"There is no {family} named {str(name)[:80]!r}; {hint}")


def discover(package: str, path: Iterable[str]) -> None:
    """Import every module of `package`, so that each registers what it defines."""
    for module in sorted(pkgutil.iter_modules(path), key=lambda m: m.name):
        import_module(f"{package}.{module.name}")
