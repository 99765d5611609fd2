# SPDX-License-Identifier: Apache-2.0
"""
The project's own file of cases: one YAML a source, in the folder `cases`.

    heading: Authors and year       # of the page's section
    publication: Authors, title, year
    rests_on: Basis of comparison of the rows of this source
    about: Remarks on the source; shown above its table
    cases:
      a_name:                       # the name for `python -m validation`
        title: Subject of the case
        place: Place in the source
        cost: quick                 # or slow
        needs: [exudyn]             # modules without which nothing of it runs
        inputs: {...}               # numbers that its code starts from
        kind: printed               # of rows without a kind
        rows:
          a_key:
            quantity: Deflection of the tip
            unit: m
            expected: 0.01637       # a number, nested lists of numbers, or a statement; `computed`
                                    # where another program computes it in the same run
            absolute: 5.0e-6        # tolerance; or relative: 1.0e-9, of each entry; or of_largest:
            reason: The reason      # 1.0e-9, of the largest entry, which needs a reason
            kind: printed           # see KINDS in case.py
            relation: at most       # or at least; equal unless given
            place: table 4.9
            note: Remark for the reader
            expected_miss: The cause, and the side in error
            instead: 0.01702        # ours, where it should miss
            instead_within: 1.0e-8  # tolerance; 1e-3 of the largest number unless given
            shown: '0.016370'       # the expected value as the page is to show it

Code returns its results by the rows' keys (`make_rows`), so that no number is without a
result and no result without a number.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Mapping, Union

from flexdyn_ros.errors import UnknownName
import numpy as np
from validation.case import COSTS, NotRun, Numbers, Row, Verdict
import yaml

FOLDER = Path(__file__).with_name('cases')
# Stands in the file for an expected value that another program computes in the same run.
COMPUTED = 'computed'

_SOURCE = {'heading', 'publication', 'rests_on', 'about', 'cases'}
_CASE = {'title', 'place', 'cost', 'needs', 'inputs', 'kind', 'rows'}
_ROW = {
    'quantity', 'unit', 'expected', 'absolute', 'relative', 'kind', 'relation', 'place', 'note',
    'expected_miss', 'shown', 'instead', 'instead_within', 'of_largest', 'reason',
}
_TOLERANCES = ('absolute', 'relative', 'of_largest')


@lru_cache(maxsize=None)
def sources() -> dict[str, dict[str, Any]]:
    """Return the content of all files by their names, checked."""
    found: dict[str, dict[str, Any]] = {}
    owner: dict[str, str] = {}
    for path in sorted(FOLDER.glob('*.yaml')):
        content = yaml.load(path.read_text(encoding='utf-8'), Loader=_Loader)
        _check(path.name, content, _SOURCE, {'publication', 'rests_on', 'cases'})
        for name, case in content['cases'].items():
            where = f'{path.name}: {name}'
            if name in owner:
                raise ValueError(f'{where} stands in {owner[name]} already')
            owner[name] = path.name
            _check(where, case, _CASE, {'title', 'place'})
            if case.get('cost', 'quick') not in COSTS:
                raise ValueError(f'{where}: cost is none of {COSTS}')
            for key, row in case.get('rows', {}).items():
                _check(f'{where}: {key}', row, _ROW, {'quantity', 'expected'})
                if sum(name in row for name in _TOLERANCES) > 1:
                    raise ValueError(f'{where}: {key} has two tolerances')
                if ('of_largest' in row) != ('reason' in row):
                    raise ValueError(f'{where}: {key} needs a reason with "of_largest"')
        found[path.stem] = content
    return found


def case_entry(name: str) -> dict[str, Any]:
    """
    Return the entry of a case in the file.

    Raises:
        UnknownName: No file has it.
    """
    for content in sources().values():
        if name in content['cases']:
            return content['cases'][name]
    raise UnknownName('validation case', name, case_names())


def case_names() -> list[str]:
    """Return the names of all cases, source by source."""
    return [name for content in sources().values() for name in content['cases']]


def inputs(name: str) -> dict[str, Any]:
    """Return the numbers that a case starts from."""
    return case_entry(name)['inputs']


def expected(name: str, key: str) -> Any:
    """Return the expected value of a row as an array, or the statement."""
    value = case_entry(name)['rows'][key]['expected']
    return value if isinstance(value, str) else np.array(value, dtype=float)


def make_rows(
    name: str,
    results: Mapping[str, Union[Numbers, Verdict, NotRun, list, tuple]],
    computed: Mapping[str, Numbers] = MappingProxyType({}),
) -> list[Row]:
    """
    Return the rows of a case with our results.

    Args:
        name: The case.
        results: Results by the keys of the rows: numbers, a Verdict, or NotRun.
        computed: Expected values that another program computed, of rows whose expected value is
            `computed` in the file; none of those that did not run.

    Raises:
        ValueError: A row is without a result, or a result without a row; the same of `computed`.
    """
    case = case_entry(name)
    entries = case['rows']
    if set(entries) != set(results):
        without = sorted(set(entries) - set(results))
        unknown = sorted(set(results) - set(entries))
        raise ValueError(f'case "{name}": rows without a result {without}, results without a row '
                         f'{unknown}')
    wanted = {
        key for key, entry in entries.items()
        if entry['expected'] == COMPUTED and not isinstance(results[key], NotRun)
    }
    if wanted != set(computed):
        raise ValueError(f'case "{name}": expected values computed for {sorted(computed)}, '
                         f'wanted for {sorted(wanted)}')
    return [
        _row(entry, results[key], computed.get(key, entry['expected']),
             case.get('kind', 'printed'))
        for key, entry in entries.items()
    ]


def _row(entry: dict[str, Any], ours: Any, value: Any, kind: str) -> Row:
    if not isinstance(ours, (Verdict, NotRun)):
        ours = np.array(ours, dtype=float)
    return Row(
        quantity=entry['quantity'],
        expected=value if isinstance(value, str) else np.array(value, dtype=float),
        ours=ours,
        unit=str(entry.get('unit', '')),
        tolerance=float(next((entry[name] for name in _TOLERANCES if name in entry), 0.0)),
        relative='relative' in entry,
        of_largest=entry.get('reason', ''),
        kind=entry.get('kind', kind),
        relation=entry.get('relation', 'equal'),
        place=str(entry.get('place', '')),
        note=entry.get('note', ''),
        expected_miss=entry.get('expected_miss', ''),
        shown=str(entry.get('shown', '')),
        instead=None if 'instead' not in entry else np.array(entry['instead'], dtype=float),
        instead_within=entry.get('instead_within'),
    )


def _check(where: str, table: Any, known: set[str], needed: set[str]) -> None:
    if not isinstance(table, dict):
        raise ValueError(f'{where} is no table')
    unknown, missing = set(table) - known, needed - set(table)
    if unknown or missing:
        raise ValueError(f'{where}: unknown {sorted(unknown)}, missing {sorted(missing)}')


# libyaml's parser where PyYAML has it: ten times as fast.
_SafeLoader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _Loader(_SafeLoader):
    """Reads YAML in which a key twice in one table is an error."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        """Return a table."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value
                if key.tag != 'tag:yaml.org,2002:merge']
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(
                None, None, f'{sorted(map(str, twice))} given twice', node.start_mark
            )
        return super().construct_mapping(node, deep)
