"""Names for runs: an id that is easy to say and safe in a path."""

import secrets

ADJECTIVES = (
    "able amber bold brave brief bright brisk calm civil clear crisp deep eager early fair fine firm fond "
    "frank free fresh full gentle glad grand green handy keen kind large late lean level light lively "
    "lucid merry mild neat noble open plain proud quick quiet rapid ready rich ripe round sharp sleek "
    "smart snug solid sound spry steady still stout sunny sure swift tall tidy true vivid warm wide wise "
    "witty young"
).split()
ANIMALS = (
    "adder badger bear beaver bee bison boar bream carp cat civet cod colt crab crane cricket crow deer "
    "dove duck eagle eel egret elk ermine falcon ferret finch fox frog gecko goat goose grouse gull hare "
    "hawk hen heron hound ibis jay kite koala lark lemur lion llama lynx magpie marten mole moose moth "
    "mouse newt ocelot orca otter owl ox panda perch pike plover puma quail rabbit raven robin rook "
    "salmon seal shrew skua sloth snail sparrow squid stoat stork swan swift tern thrush tiger toad trout "
    "turtle viper vole walrus wasp whale wolf wombat wren yak zebra"
).split()


def new_run_id() -> str:
    """A fresh id such as `brisk-otter-3f9a2c`; the last part makes a repeat unlikely enough to ignore."""
    return f"{spoken_name()}-{secrets.token_hex(3)}"


def spoken_name() -> str:
    """Two words, such as `brisk-otter`."""
    return f"{secrets.choice(ADJECTIVES)}-{secrets.choice(ANIMALS)}"
