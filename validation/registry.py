# SPDX-License-Identifier: Apache-2.0
"""
The code that computes each case.

A module of cases has a table CODE from the cases' names to the code that computes them. The
subject of a case and its numbers stand in the file of cases (case_file.py). A name without code,
and code without an entry, is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Callable, Iterable, Optional

from flexdyn_ros.errors import UnknownName
from validation.case import Case, Draw, Progress, Row, Source
from validation.case_file import case_names, sources

# Modules with cases, below this package.
MODULES = (
    'beams_and_linkages.four_bar',
    'beams_and_linkages.stiffening',
    'counts.cases',
    'el_rayyes.clamped_link',
    'el_rayyes.formulations',
    'el_rayyes.pendulum',
    'el_rayyes.rigid_arms',
    'el_rayyes.symbols',
    'el_rayyes.two_links',
    'graves.agreement',
    'graves.approximations',
    'graves.base',
    'graves.mechanism_modes',
    'graves.stiffening',
    'mohan_saha.canadarm_motion',
    'mohan_saha.canadarm_statics',
    'mohan_saha.denoc_cases',
    'mohan_saha.long_chains',
    'mohan_saha.operation_counts',
    'mohan_saha.stability',
    'reduced_forms.amplitude',
    'reduced_forms.speed',
    'van_der_merwe.four_links',
    'van_der_merwe.open_chains',
    'van_der_merwe.three_legs',
    'van_der_merwe.two_chains',
    'martins_machado.four_terms',
    'martins_machado.integrators',
    'martins_machado.lumping',
    'martins_machado.segments',
    'other_codes.three_links',
    'other_codes.satellite',
)


@dataclass(frozen=True)
class Code:
    """
    The code of a case.

    Attributes:
        run: Computes the rows; it receives a function that takes the fraction done.
        plots: Draws its pictures into a folder, or None.
    """

    run: Callable[[Progress], list[Row]]
    plots: Optional[Draw] = None


@lru_cache(maxsize=None)
def cases() -> dict[str, Case]:
    """
    Return all cases by name, source by source.

    Raises:
        ValueError: The file of cases and the code do not have the same names.
    """
    code = _code()
    without, unknown = set(case_names()) - set(code), set(code) - set(case_names())
    if without or unknown:
        raise ValueError(f'cases without code: {sorted(without)}; code of no case: '
                         f'{sorted(unknown)}')
    found = {}
    for key, content in sources().items():
        for name, entry in content['cases'].items():
            found[name] = Case(
                name=name,
                title=entry['title'],
                source=Source(key, content['publication'], str(entry['place'])),
                run=code[name].run,
                cost=entry.get('cost', 'quick'),
                needs=tuple(entry.get('needs', ())),
                plots=code[name].plots,
            )
    return found


def chosen(names: Iterable[str]) -> list[Case]:
    """
    Return cases by name, each once.

    Raises:
        UnknownName: There is no such case.
    """
    known = cases()
    for name in names:
        if name not in known:
            raise UnknownName('validation case', name, known)
    return [known[name] for name in dict.fromkeys(names)]


def _code() -> dict[str, Code]:
    found: dict[str, Code] = {}
    for module in MODULES:
        table = import_module(f'validation.{module}').CODE
        twice = set(table) & set(found)
        if twice:
            raise ValueError(f'{module}: code for {sorted(twice)} is registered already')
        found.update(table)
    return found
