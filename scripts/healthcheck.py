"""Ask the server in this container whether it is well; the exit code is the answer."""

import os
import sys
import urllib.request

PORT = 8501
TIMEOUT_SECONDS = 4


def main() -> int:
    """0 where /_stcore/health answers 200 to a host that the server allows."""
    host = os.environ.get("SANDBOX_ALLOWED_HOSTS", "localhost").split(",")[0].strip()
    # An address such as *.example.org stands for any name below it.
    host = host.replace("*", "health", 1) or "localhost"
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/_stcore/health", headers={"Host": f"{host}:{PORT}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as fault:
        print(f"{type(fault).__name__}: {fault}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
