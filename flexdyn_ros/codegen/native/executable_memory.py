# SPDX-License-Identifier: Apache-2.0
"""
Memory for machine code, without a compiler or a file.

Pages are written first, and then made executable and no longer writable; never both at once. They
are private to the process (a fork has copies of its own), and stay as long as it does, as loaded
libraries do. Neighbours lie in one mapping, so that programs by the thousand take few.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import mmap
import os
import platform
import sys
from threading import Lock
from typing import Optional

# What is taken from the system at a time, at least.
BLOCK = 1 << 20


class ExecutableMemory:
    """Blocks of memory, filled page by page."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Leave the block alone: a process that was forked may have it half done, and locked."""
        self._lock = Lock()
        self._block: Optional[mmap.mmap] = None
        self._next = 0

    def place(self, content: bytes) -> int:
        """
        Return the address of a copy that can be executed.

        Raises:
            OSError: If the system does not allow it.
        """
        size = -(-max(len(content), 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        with self._lock:
            if self._block is None or self._next + size > len(self._block):
                self._block = mmap.mmap(
                    -1, max(size, BLOCK), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                    prot=mmap.PROT_READ | mmap.PROT_WRITE,
                )
                self._next = 0
            place = self._next
            self._block[place : place + len(content)] = content
            # The buffer keeps the block from being given back.
            address = ctypes.addressof(ctypes.c_char.from_buffer(self._block)) + place
            _protect(address, size)
            self._next += size
            _kept.add(self._block)
            return address


# Blocks in use, for good.
_kept: set[mmap.mmap] = set()
memory = ExecutableMemory()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=memory.start_anew)


def _protect(address: int, size: int) -> None:
    """Let pages be read and executed only."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if library.mprotect(address, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f'memory cannot be made executable: {os.strerror(number)}')


@lru_cache(maxsize=1)
def problem() -> Optional[str]:
    """Return why machine code of this package cannot run here, or None."""
    if sys.platform != 'linux' or platform.machine() != 'x86_64' or sys.maxsize < 2**32:
        return f'the platform is {sys.platform} on {platform.machine()}, not Linux on x86-64'
    try:
        memory.place(b'\xc3')
    except (OSError, AttributeError) as error:
        return str(error)
    return None
