# SPDX-License-Identifier: Apache-2.0
"""The published tables, each row beside the counts of our generated C."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Iterator, Optional

from flexdyn_ros.codegen import generate
from flexdyn_ros.codegen.tracing.traced_dynamics import MASS_MATRIX_METHODS
from flexdyn_ros.model.records.robot import Robot
from validation.counts import published
from validation.counts.c_source import count_c
from validation.counts.robots import flexible_arm, flexible_chain, table_robot

# The published wrench is given in axes of the last link.
WRENCH = 'wrench:tool@tool'
FOUR_TERMS = 'inertia_vector+coriolis_vector+gravity_vector+external_force_vector'
# Function, arguments and generate's options for each function of the published tables.
CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    'inverse_dynamics with wrench': ('inverse_dynamics', (WRENCH,)),
    'external_force_vector': ('external_force_vector', (WRENCH,)),
    'four terms': (FOUR_TERMS, (WRENCH,)),
}
RIGID = ('Stanford6', 'Puma6', 'Stanford3', 'Puma3')


@dataclass(frozen=True)
class Count:
    """Multiplications (with divisions), additions, and calls of sine and cosine."""

    mul: float
    add: float
    trig: Optional[int] = None

    @property
    def total(self) -> float:
        """Multiplications and additions."""
        return self.mul + self.add


@dataclass
class CountRow:
    """
    One row.

    Attributes:
        label: The computed quantity, and the robot.
        rivals: Published counts of generators by name.
        others: Published counts that are no generator's.
        measure: Generates the code and counts it.
        target: Total that it is to stay below, where one is set beside the rivals.
        split: Counts of its parts by name, measured where the row misses its mark.
        ours: The result, once measured.
        parts: The result of `split`.
    """

    label: str
    rivals: dict[str, Count]
    others: dict[str, Count]
    measure: Callable[[], Count]
    target: Optional[float] = None
    split: Optional[Callable[[], dict[str, Count]]] = None
    ours: Optional[Count] = None
    parts: dict[str, Count] = field(default_factory=dict)

    def run(self) -> None:
        """Measure the row, and its parts where it misses its mark."""
        self.ours = self.measure()
        if self.split is not None and not (self.beaten and self.on_target):
            self.parts = self.split()

    @property
    def best(self) -> Optional[float]:
        """The lowest total of a rival."""
        return min((rival.total for rival in self.rivals.values()), default=None)

    @property
    def beaten(self) -> bool:
        """Whether our total is below every rival's."""
        return self.best is None or self.ours.total < self.best

    @property
    def on_target(self) -> bool:
        """Whether our total is below the target."""
        return self.target is None or self.ours.total < self.target


@dataclass
class Table:
    """A table of the report."""

    name: str
    title: str
    note: str
    rows: list[CountRow] = field(default_factory=list)


def count(robot: Robot, function: str, arguments: tuple = (), **options: Any) -> Count:
    """Return the counts of the generated C of a function."""
    code = generate(robot, function, arguments=arguments, **options)
    found = count_c(code.source, code.name)
    return Count(found['mul'], found['add'], found['trig'])


def _rigid(name: str, function: str, arguments: tuple = (), **options: Any) -> Count:
    return count(table_robot(name), function, arguments, **options)


def tables() -> list[Table]:
    """Return all tables, nothing measured yet."""
    return [
        _inverse(), _direct(), _jacobian(), _flexible(),
        *(_recursive(modes) for modes in (1, 2, 3)), _factors(),
    ]


def _counts(values: dict[str, Any]) -> dict[str, Count]:
    return {name: Count(*value) for name, value in values.items() if value is not None}


def _rigid_rows(functions: Callable[[str], bool]) -> Iterator[CountRow]:
    for name in RIGID:
        for function, rivals in published.published()['rigid'][name].items():
            if functions(function):
                call, arguments = CALLS.get(function, (function, ()))
                yield CountRow(
                    f'{name}, {function}', _counts(rivals), {},
                    partial(_rigid, name, call, arguments),
                    TARGETS.get((name, function)),
                )


# Totals that the rows are to stay below beside their rivals'.
TARGETS: dict[tuple[str, str], float] = {
    ('Stanford6', 'inverse_dynamics'): 225.0,
    ('Stanford6', 'gravity_vector'): 40.0,
    ('Stanford6', 'mass_matrix+bias_vector'): 300.0,
    ('Puma6', 'inverse_dynamics'): 295.0,
    ('Puma6', 'mass_matrix+bias_vector'): 430.0,
    ('Stanford3', 'inverse_dynamics'): 64.0,
    ('flexible', 'A'): 390.0,
    ('flexible', 'E'): 510.0,
    ('flexible', 'K'): 500.0,
}
# Flexible cases that are counted for a general arm as well.
GENERAL_CASES = ('A', 'E', 'K', 'M', 'Q')
# Of FLEXHB's total, for the flexible cases without a target of their own.
FLEXIBLE_SHARE = 2.0 / 3.0
RECURSIVE_TARGET = {(8, 2): 9874.0 + 7699.0}


def _inverse() -> Table:
    table = Table(
        'inverse', 'Inverse dynamics and its terms, rigid arms',
        'El-Rayyes 1990, tables 1.2 and 4.1 to 4.3. "With wrench" and external_force_vector take '
        'a wrench at the tool, in axes of the tool as theirs. "Four terms" is inertia, Coriolis, '
        'gravity and external force as four vectors; ours share their common work.',
    )
    table.rows += _rigid_rows(lambda function: 'mass_matrix' not in function
                              and function != 'bias_vector')
    for name in RIGID[:2]:
        table.rows.append(CountRow(
            f'{name}, inverse_dynamics with a rigid payload as argument', {}, {},
            partial(_rigid, name, 'inverse_dynamics', ('payload:tool',)),
        ))
    return table


def _direct() -> Table:
    table = Table(
        'direct', 'Mass matrix and bias, rigid arms',
        "El-Rayyes 1990, tables 4.4 to 4.6. The digit of HMAT and HBMAT is Walker and Orin's "
        'method. Our three methods follow the row that the cheapest of them stands for.',
    )
    for row in _rigid_rows(lambda function: 'mass_matrix' in function
                           or function == 'bias_vector'):
        table.rows.append(row)
        name, function = row.label.split(', ')
        if function == 'mass_matrix':
            for number, method in enumerate(list(MASS_MATRIX_METHODS)[:3], 1):
                table.rows.append(CountRow(
                    f'{name}, mass_matrix, method {number} ({method})', {}, {},
                    partial(_rigid, name, 'mass_matrix', method=method),
                ))
    return table


def _jacobian() -> Table:
    rivals: dict[str, Count] = {}
    others: dict[str, Count] = {}
    for name, entry in published.published()['jacobian'].items():
        mul, add = entry['counts']
        (rivals if entry['rival'] else others)[name] = Count(mul, add, entry['trig'])
    table = Table(
        'jacobian', 'Jacobian of the tool',
        "El-Rayyes 1990, table 4.7. JACOB's is in axes of the last link, ours in root axes.",
    )
    table.rows.append(CountRow(
        'Puma6, jacobian', rivals, others,
        partial(_rigid, 'Puma6', 'jacobian:tool'),
    ))
    return table


def _flexible() -> Table:
    table = Table(
        'flexible', 'Mass matrix and bias, flexible arms',
        'El-Rayyes 1990, tables 4.13 to 4.15. R is a rigid link, BB one that bends in two '
        'directions, T adds torsion. The flexible links are the rod of 1 m that the source '
        "describes. The wrist is the Puma 560's, which the source calls similar to case Q. A "
        'general arm of the same case has lengths other than 1 m, a hub on each flexible link '
        'and three different moments. So no product with 0 or 1 is saved; see '
        'validation/counts/robots.py.',
    )
    for case, entry in published.published()['flexible'].items():
        rivals = {name: entry[name] for name in ('FLEXHB', 'FLXDYN')}
        others = {f'{name} numeric': entry[f'{name} numeric'] for name in rivals}
        table.rows.append(CountRow(
            _case_label(case, entry), _counts(rivals), _counts(others),
            partial(_flexible_count, case, entry),
            TARGETS.get(('flexible', case), FLEXIBLE_SHARE * sum(entry['FLEXHB'])),
            partial(_flexible_parts, case, entry),
        ))
        if case in GENERAL_CASES:
            table.rows.append(CountRow(
                f'{case}, general arm', _counts(rivals), {},
                partial(_flexible_count, case, entry, general=True),
            ))
    return table


def _arm(case: str, entry: dict[str, Any], **options: Any) -> Robot:
    return flexible_arm(
        case, entry['links'], entry['modes'], float(entry['joint_mass']), entry['gravity'],
        **options,
    )


def _flexible_count(case: str, entry: dict[str, Any], general: bool = False) -> Count:
    return count(_arm(case, entry, general=general), 'mass_matrix+bias_vector')


def _flexible_parts(case: str, entry: dict[str, Any]) -> dict[str, Count]:
    """Return the counts of mass matrix and bias alone, and of an easier arm."""
    robot, both = _arm(case, entry), 'mass_matrix+bias_vector'
    parts = {name: count(robot, name) for name in ('mass_matrix', 'bias_vector')}
    if entry['links'].startswith('R'):
        parallel = _arm(case, entry, base_twist=0.0)
        parts['both with the base axis parallel to the next'] = count(parallel, both)
    return parts


def _case_label(case: str, entry: dict[str, Any]) -> str:
    modes = f'{entry["modes"]} mode' + ('s' if entry['modes'] > 1 else '')
    parts = [entry['links'], modes, f'{entry["degrees_of_freedom"]} coordinates']
    if entry['joint_mass']:
        parts.append('joint masses')
    if not entry['gravity']:
        parts.append('no gravity')
    return f'{case}: {", ".join(parts)}'


def _recursive(modes: int) -> Table:
    table = Table(
        f'chain{modes}', f'Forward dynamics of a flexible chain, m = {modes}',
        'Mohan and Saha, table 1: n links, m modes in each of two directions. Theirs are bounds '
        'for any numeric program; ours is code for one chain of general geometry with a payload.',
    )
    for links in range(1, 11):
        # An algorithm that does not generate code is a rival here: there is no other.
        rivals = {name: Count(*law(links, modes)) for name, law in published.RECURSIVE.items()}
        table.rows.append(CountRow(
            f'n = {links}', rivals, {},
            partial(_chain_count, links, modes),
            RECURSIVE_TARGET.get((links, modes)),
        ))
    return table


def _chain_count(links: int, modes: int) -> Count:
    return count(flexible_chain(links, modes), 'forward_dynamics')


def _factors() -> Table:
    table = Table(
        'factors', 'Factors of the mass matrix',
        'M = U D U^T (Mohan and Saha, eqs. 34 to 38) as output; no counts are published. The mass '
        'matrix alone stands beside it.',
    )
    for name in RIGID[:2]:
        for function in ('mass_matrix', 'mass_matrix_factors'):
            table.rows.append(CountRow(
                f'{name}, {function}', {}, {},
                partial(_rigid, name, function),
            ))
    return table
