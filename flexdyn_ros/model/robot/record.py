# SPDX-License-Identifier: Apache-2.0
"""How the records of a model print: without the fields that say nothing."""

from __future__ import annotations

from dataclasses import fields


class Record:
    """Base of frozen dataclasses that print the fields which differ from their defaults."""

    def __repr__(self) -> str:
        """Return the call that makes the record."""
        parts = [
            f'{field.name}={getattr(self, field.name)!r}'
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and getattr(self, field.name) != field.default
        ]
        return f'{type(self).__name__}({", ".join(parts)})'
