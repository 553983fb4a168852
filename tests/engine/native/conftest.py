"""Without kernels (no compiler) there is nothing to compare: only test_library.py then remains."""

from sandbox.engine.native.library import found_build

collect_ignore_glob = [] if found_build()[0] else ["test_[!l]*.py"]
