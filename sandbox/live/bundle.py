"""Bundle: the live view's scripts as one module, so that a browser asks once instead of thirty times."""

import re
from collections.abc import Mapping

IMPORT = re.compile(r'^import \{ (?P<names>[^}]+) \} from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|class|function) (?P<name>\w+))", re.MULTILINE)


def bundled(scripts: Mapping[str, str], entry: str) -> str:
    """One module with the exports of `entry`, from scripts by file name.

    Each script becomes a function that is called once, after those it imports, and hands its exports to
    those that follow. Scripts import each other by single lines, `import { a, b } from "./file.js";`, and
    export one declaration a line, where it stands. Raises ValueError for a circle and for a name that is
    imported but not exported, KeyError for a missing script.
    """
    parts = [_called_once(name, scripts[name]) for name in _in_order(scripts, entry)]
    names = ", ".join(_exports(scripts[entry]))
    return "".join(parts) + f"export const {{ {names} }} = {_variable(entry)};\n"


def _in_order(scripts: Mapping[str, str], entry: str) -> list[str]:
    """The scripts that `entry` needs, itself last, each after all that it imports."""
    done: list[str] = []
    entered: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in entered:
            raise ValueError(f"The scripts import each other in a circle: {' -> '.join([*entered, name])}.")
        entered.append(name)
        for found in IMPORT.finditer(scripts[name]):
            visit(found["file"])
            missing = set(found["names"].split(", ")) - set(_exports(scripts[found["file"]]))
            if missing:
                raise ValueError(
                    f"{name} imports {', '.join(sorted(missing))}, not exported by {found['file']}."
                )
        entered.pop()
        done.append(name)

    visit(entry)
    return done


def _called_once(name: str, text: str) -> str:
    body = IMPORT.sub(lambda found: f"const {{ {found['names']} }} = {_variable(found['file'])};\n", text)
    body = EXPORT.sub("", body)
    return f"const {_variable(name)} = (() => {{\n{body}return {{ {', '.join(_exports(text))} }};\n}})();\n"


def _exports(text: str) -> list[str]:
    return [found["name"] for found in EXPORT.finditer(text)]


def _variable(name: str) -> str:
    return "from_" + re.sub(r"\W", "_", name.removesuffix(".js"))
