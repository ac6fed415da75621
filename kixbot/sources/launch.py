"""Started as a script by `sandbox.py`: sets limits on itself, then becomes the given program.

Limits are set here, after the fork, because code between fork and exec is unsafe in a process with threads.
Arguments: address space, stack, CPU seconds, file size, the one folder it may use (empty: all), then the program's
path and its arguments.
"""

import ctypes
import os
import resource
import struct
import sys

# Landlock, Linux 5.13 and later. The kernel gave these calls the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_USE, _LIST = 0b0101, 0b1000  # execute and read files; read folders
_NO_NEW_PRIVILEGES = 38  # of prctl(2)
# What a program needs to start: itself, its libraries, what the kernel tells of the machine.
_SYSTEM = {
    **dict.fromkeys(("/bin", "/lib", "/lib64", "/usr"), _USE | _LIST),
    **dict.fromkeys(("/dev", "/etc/ld.so.cache", "/gnu/store", "/nix/store", "/proc", "/sys"), _USE),
}


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
    if arguments[4]:
        _confine(arguments[4], arguments[5])
    os.execv(arguments[5], arguments[5:])  # noqa: S606  no shell is wanted


def _confine(folder: str, program: str) -> None:
    """Leave this process `folder`, and to read the files of the system's programs; where the kernel can do that."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    if version < 1:
        return
    everything = 2 ** (13 if version == 1 else 14) - 1
    rules = libc.syscall(_CREATE_RULESET, struct.pack("=Q", everything), ctypes.c_size_t(8), 0)
    own = os.path.dirname(os.path.realpath(program))  # noqa: PTH120  a script with few imports
    beside = os.path.dirname(own)  # noqa: PTH120
    places = {beside: _USE, own: _USE | _LIST, **_SYSTEM, folder: everything}
    places.pop("/", None)
    for path, allowed in places.items():
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not every system has each
        libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if rules < 0 or libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "the process cannot be confined")


if __name__ == "__main__":
    main(sys.argv[1:])
