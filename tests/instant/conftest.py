"""Without kernels (no compiler) nothing is trained at once; what the page says then is tested too."""

from sandbox.foundations.kernels import found_build

NEED_KERNELS = ["test_computations.py", "test_session.py", "test_worker.py"]
collect_ignore = [] if found_build()[0] else NEED_KERNELS
