"""Reference: every idea of the catalogue, with its formula and source, and the words."""

from sandbox.ui.glossary import GLOSSARY
from tests.pages.conftest import Open, said, settled
from tests.ui import described


def test_every_family_has_a_tab_with_all_its_ideas(open_page: Open) -> None:
    catalogue = described.catalogue()
    app = open_page("reference")
    for family, variants in catalogue.families.items():
        title = catalogue.family_titles[family].capitalize()
        app.session_state["reference.tabs"] = title
        app = settled(app.run())
        text = said(app)
        for entry in variants.values():
            assert entry.title in text
            assert entry.source in text
            assert all(knob.spec.label in text for knob in entry.knobs.values())
        formulas = [latex.value.strip("$\n ") for latex in app.latex]
        assert formulas == [entry.equation for entry in variants.values() if entry.equation]


def test_the_words_are_explained(open_page: Open) -> None:
    app = open_page("reference")
    app.session_state["reference.tabs"] = "Words and signs"
    app = settled(app.run())
    assert all(word in said(app) for word, _ in GLOSSARY)
