"""The bundle: scripts in the order of their imports, each called once, and no name that is not there."""

import pytest

from sandbox.live.bundle import bundled
from sandbox.live.routes import BUNDLE, INSTANT_BUNDLE, INSTANT_SCRIPTS, loaded
from sandbox.live.routes import SCRIPTS as SCRIPTS_OF_VIEW

SCRIPTS = {
    "main.js": 'import { twice } from "./middle.js";\nimport { ONE } from "./low.js";\n'
    "\nexport const answer = twice(ONE);\n",
    "middle.js": 'import { ONE } from "./low.js";\n\n'
    "export function twice(x) { return 2 * x * ONE; }\nconst own = 1;\n",
    "low.js": "export const ONE = 1;\nconst own = 2;\nexport class Unused {}\n",
    "apart.js": "export const never = 1;\n",
}


def test_every_script_stands_once_after_those_it_imports() -> None:
    text = bundled(SCRIPTS, "main.js")
    places = [text.index(f"const {name} = (() =>") for name in ("from_low", "from_middle", "from_main")]
    assert places == sorted(places)
    assert text.count("const ONE = 1;") == 1
    assert text.endswith("export const { answer } = from_main;\n")
    assert "never" not in text
    assert "import " not in text
    assert text.count("export ") == 1


def test_names_that_are_handed_on_are_those_exported() -> None:
    text = bundled(SCRIPTS, "main.js")
    assert "return { ONE, Unused };" in text
    assert "const { twice } = from_middle;" in text


def test_a_circle_and_a_missing_name_are_errors() -> None:
    circle = SCRIPTS | {"low.js": 'import { answer } from "./main.js";\nexport const ONE = answer;\n'}
    with pytest.raises(ValueError, match=r"circle: main.js -> middle.js -> low.js"):
        bundled(circle, "main.js")
    with pytest.raises(ValueError, match=r"main.js imports ONE, not exported by low.js"):
        bundled(SCRIPTS | {"low.js": "const ONE = 1;\n", "middle.js": "export const twice = 1;\n"}, "main.js")


def test_the_live_view_is_one_module_that_holds_every_script() -> None:
    text = loaded()[BUNDLE][0].decode()
    scripts = [path.name for path in SCRIPTS_OF_VIEW.glob("*.js")]
    assert len(scripts) > 20
    for name in scripts:
        assert f"const from_{name.removesuffix('.js')} = (() =>" in text, name
    assert "\nimport " not in text
    assert text.rstrip().endswith("export const { open, mount } = from_main;")


def test_instant_mode_is_one_module_that_home_does_not_fetch() -> None:
    text = loaded()[INSTANT_BUNDLE][0].decode()
    own = [path.stem for path in INSTANT_SCRIPTS.glob("*.js")]
    assert len(own) > 4
    for name in own:
        assert f"const from_{name} = (() =>" in text, name
        assert f"const from_{name} = (() =>" not in loaded()[BUNDLE][0].decode(), name
    assert "const from_curves = " in text and "const from_view = " not in text
    assert "\nimport " not in text
    assert text.rstrip().endswith("export const { mount } = from_instant;")
