"""Started as a script by `sandbox.py`: sets limits on itself, then becomes the given program.

Limits are set here, after the fork, because code between fork and exec is unsafe in a process with threads.
Arguments: address space, stack, CPU seconds, file size, then the program's path and its arguments.
"""

import os
import resource
import sys


def main(arguments: list[str]) -> None:
    """Set the limits, never above what is already allowed, and run the program in this process."""
    space, stack, cpu, size = (int(number) for number in arguments[:4])
    limits = (
        (resource.RLIMIT_AS, space),
        (resource.RLIMIT_STACK, stack),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, size),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, wanted in limits:
        _, hard = resource.getrlimit(kind)
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(kind, (allowed, allowed))
        except (ValueError, OSError):
            # macOS knows no limit of address space; there the bound on time has to do.
            if sys.platform.startswith("linux"):
                raise
    os.execv(arguments[4], arguments[4:])  # noqa: S606  no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
