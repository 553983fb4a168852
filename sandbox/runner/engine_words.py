"""Which engine trains which arms, in sentences: for a run's page, the settings before a start, and `show`."""

from collections.abc import Mapping
from typing import Any

MOST_OF_A_REASON = 200


def engine_sentences(engines: Any) -> list[str]:
    """`nystrom: torch engine (the native engine has no kernel for it)`: a sentence per engine and reason.

    `engines` holds {"engine", "reason"} per arm, as a run describes them or a check answers. What is no such
    thing, as in a folder from elsewhere, is passed over. Plain text.
    """
    arms_of: dict[tuple[str, str], list[tuple[str, str]]] = {}
    chosen = {
        str(arm): found
        for arm, found in (engines.items() if isinstance(engines, Mapping) else ())
        if isinstance(found, Mapping)
    }
    for arm, found in chosen.items():
        reason = str(found.get("reason") or "")[:MOST_OF_A_REASON]
        subject, colon, why = reason.partition(": ")
        key = (str(found.get("engine"))[:MOST_OF_A_REASON], why if colon else reason)
        arms_of.setdefault(key, []).append((arm, subject if colon else ""))
    everyone = len(chosen) > 1 and len(arms_of) == 1
    return [_sentence(engine, why, arms, everyone) for (engine, why), arms in arms_of.items()]


def _sentence(engine: str, why: str, arms: list[tuple[str, str]], everyone: bool) -> str:
    names = [arm for arm, _ in arms]
    subjects = list(dict.fromkeys(subject for _, subject in arms if subject))
    if subjects and subjects != names:  # an arm that is called what the reason is about need not say it twice
        why = f"{', '.join(subjects)}: {why}"
    reason = f" ({why})" if why else ""
    return f"{'every arm' if everyone else ', '.join(names)}: {engine} engine{reason}"
