"""The gallery as a table: every run that fits, its number with the arm it is of, and what differs."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from sandbox.runner.gallery import Entry
from sandbox.ui import gallery_card, gallery_filter, named, navigation, session
from sandbox.ui.gallery_filter import Wish
from sandbox.ui.lineage import Lineage
from sandbox.ui.words import ago, count

OF_RUNS = (gallery_filter.SECONDS, gallery_filter.DIVERGED)
"""Numbers that are a run's, not an arm's."""


def table(found: list[Entry], wish: Wish, lineage: Lineage) -> None:
    """Draw it; ticked rows are the runs that were ticked on cards, and the other way round."""
    metric = gallery_filter.ACCURACY if wish.sort in gallery_filter.BY_TIME else wish.sort
    differing = gallery_filter.differing(found)
    ids = [entry.id for entry in found]
    key = table_key(ids)
    ticked = [ids.index(run) for run in gallery_card.chosen() if run in ids]
    share = "accuracy" in metric.lower()
    heading, settings = heading_of(metric, wish), _settings(differing)
    event: Any = st.dataframe(
        {**_columns(found, wish, metric, lineage), **settings},
        hide_index=True,
        on_select=lambda: _tick(key, ids),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        column_config={
            **{name: st.column_config.TextColumn(alignment="right") for name in numeric(settings)},
            **({heading: st.column_config.NumberColumn(format="%.1f %%")} if share else {}),
        },
        key=key,
        height=min(640, 38 + 35 * max(1, len(found))),
        alt=f"{count(len(found), 'run')} with {heading} and the settings that differ",
    )  # fmt: skip
    names = "none" if not differing else f"{count(len(differing), 'setting')}"
    st.caption(
        f"Settings that differ among these runs: {names}. Click a heading to sort; tick rows to act on them."
    )
    rows = [ids[row] for row in event.selection.rows if row < len(ids)]
    if len(rows) == 1:
        with st.container(horizontal=True, gap="small", key="gallery.rows"):
            if st.button("Open the run", key="gallery.open", type="primary"):
                st.switch_page(navigation.page("run"), query_params={"run": rows[0]})
            st.button(
                "Edit", key="gallery.edit.row", on_click=session.hold, args=(gallery_card.EDITED, rows[0])
            )


def table_key(ids: Sequence[str]) -> str:
    """Rows in another order are another table: what is ticked follows its run, not its row."""
    return f"gallery.table.{hashlib.blake2b(' '.join(ids).encode(), digest_size=6).hexdigest()}"


def title_of(metric: str) -> str:
    """What the list can be sorted by, in words."""
    known = (*gallery_filter.BY_TIME, *gallery_filter.DERIVED)
    return metric if metric in known else named.metric_title(metric)


def heading_of(metric: str, wish: Wish) -> str:
    """The heading of the metric's column: of a number that every arm has, whose it is."""
    if metric in OF_RUNS:
        return title_of(metric)
    which = "least of the arms" if wish.least_first else "greatest of the arms"
    best = "accuracy" in metric.lower() and not wish.least_first
    return f"{title_of(metric)}, {'best arm' if best else which}"


def _columns(found: Sequence[Entry], wish: Wish, metric: str, lineage: Lineage) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "Run": [entry.name for entry in found],
        "State": [gallery_card.state_words(entry.state) for entry in found],
        "Created": [ago(entry.created) for entry in found],
    }
    if metric in OF_RUNS:
        values = [gallery_filter.value(entry, metric) for entry in found]
        columns[title_of(metric)] = [None if value != value else value for value in values]
    else:
        best = [gallery_filter.best(entry, metric, wish.arms, wish.least_first) for entry in found]
        columns[heading_of(metric, wish)] = [_shown(metric, one[0]) if one else None for one in best]
        columns["Of the arm"] = [one[1] if one else "" for one in best]
    columns["Tags"] = [", ".join(entry.labels.tags) for entry in found]
    came = [lineage.of(entry) for entry in found]
    return columns | ({"Comes from": came} if any(came) else {})


def _shown(metric: str, value: float) -> float:
    """A share in percent, and only a whole one as 100."""
    if "accuracy" not in metric.lower():
        return value
    return 100.0 if value >= 1 else min(round(100 * value, 1), 99.9)


def _settings(differing: dict[str, list[Any]]) -> dict[str, list[str]]:
    """The settings that differ, by their titles; two that share one keep their own names."""
    titles = [named.setting_title(name) for name in differing]
    return {
        title if titles.count(title) == 1 else name: [
            "" if value is None else named.setting_value(name, value) for value in column
        ]
        for (name, column), title in zip(differing.items(), titles, strict=True)
    }


def numeric(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns of which every cell that says something is a number."""
    return [
        name for name, cells in columns.items() if any(cells) and all(map(_is_number, filter(None, cells)))
    ]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return False
    return True


def _tick(key: str, ids: Sequence[str]) -> None:
    """Take over what was ticked in the table; runs that it does not list stay ticked."""
    rows = session.reported(key)["selection"]["rows"]
    here = [ids[row] for row in rows if row < len(ids)]
    kept = [run for run in gallery_card.chosen() if run not in ids or run in here]
    gallery_card.choose([*kept, *(run for run in here if run not in kept)])
