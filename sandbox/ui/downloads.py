"""Downloads: the numbers, the settings, and a script that trains them again."""

import io
import json
import zipfile
from collections.abc import Callable

import streamlit as st
import tomli_w

from sandbox.store import Run
from sandbox.store.again import python_script, safe_name, toml_text
from sandbox.store.export import csv_text
from sandbox.store.tables import event_table, reading_tables, scalar_table
from sandbox.ui import links, making, study_files
from sandbox.ui.anew import anew
from sandbox.ui.settings import Plain


def menu(run: Run, key: str) -> None:
    """A menu of files; each is made when somebody asks for it."""
    name = safe_name(run.id)
    menu = making.menu_key(key)
    with st.popover("Download", key=menu, icon=":material/download:", on_change="rerun"):
        at_once, made = st.columns(2, gap="medium", width=520)
    with at_once, st.container(gap=None):
        st.caption("At once")
        _file(key, "Curves (CSV)", f"{name}.csv", "text/csv", lambda: csv_text(scalar_table(run)))
        _file(key, "All numbers (CSV, ZIP)", f"{name}-csv.zip", "application/zip", lambda: archive(run))
        _file(key, "Settings (TOML)", f"{name}.toml", "application/toml", lambda: toml_text(run))
        _file(key, "Settings (JSON)", f"{name}.json", "application/json", lambda: as_json(run.experiment))
        _file(key, "Runnable Python", f"{name}.py", "text/x-python", lambda: python_script(run))
    with made, st.container(gap=None):
        st.caption("In some seconds, with progress")
        making.choices(run, key, dark=st.context.theme.type == "dark")
    link(anew(run.experiment), key)


def link(plain: Plain, key: str) -> None:
    """The address that opens the Sandbox with these settings."""
    with st.popover("Link to these settings", key=f"{key}.link", icon=":material/link:"):
        st.caption("Opens the Sandbox with exactly these settings, here or on another machine with this app.")
        st.code(setup_address(plain), language=None, wrap_lines=True)


def setup_address(plain: Plain) -> str:
    """The address of the Sandbox that restores `plain`, on the host that the person came by."""
    return f"{study_files.root()}/sandbox?{links.PARAMETER}={links.encode(plain)}"


def setup_parameter(plain: Plain) -> dict[str, str]:
    """What the address of the Sandbox has to say to restore `plain`."""
    return {links.PARAMETER: links.encode(plain)}


def toml(plain: Plain) -> str:
    """The settings as `python -m sandbox train FILE.toml` reads them."""
    return tomli_w.dumps(plain)


def as_json(plain: Plain) -> str:
    """The settings as JSON."""
    return json.dumps(plain, indent=2) + "\n"


def archive(run: Run) -> bytes:
    """Every number of the run as CSV files in a ZIP; nothing is thinned, NaN stays."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("scalars.csv", csv_text(scalar_table(run)))
        files.writestr("events.csv", csv_text(event_table(run)))
        for title, table in reading_tables(run):
            files.writestr(f"reading-{safe_name(title)}.csv", csv_text(table))
        files.writestr("experiment.json", as_json(run.experiment))
    return content.getvalue()


def _file(key: str, label: str, name: str, mime: str, make: Callable[[], str | bytes]) -> None:
    st.download_button(
        label,
        make,
        file_name=name,
        mime=mime,
        key=f"{key}.{label}",
        on_click="ignore",
        width="stretch",
        type="tertiary",
    )
