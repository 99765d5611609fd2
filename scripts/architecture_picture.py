# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/architecture.svg: folders and modules of the package, and their imports.

A part stands above all that it imports. An arrow that others imply is left out.
"""

import ast
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'flexdyn_ros'
PICTURE = ROOT / 'docs' / 'architecture.svg'
# Entry points that import everything, and modules that the library does not need.
LEFT_OUT = ('__init__', '__main__', 'isolation')
# Widths and heights [px].
LETTER, HEIGHT, GAP, ROW, MARGIN = 7.6, 32, 24, 62, 12
STYLE = (
    'text{font:13px sans-serif;fill:#1b2733}rect{fill:#eef4fa;stroke:#40607f;rx:6}'
    'path{fill:none;stroke:#8195a8;stroke-width:1.2;marker-end:url(#tip)}'
)


def imports() -> dict[str, set[str]]:
    """Return the parts of the package that each part imports."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / PACKAGE).rglob('*.py')):
        part = path.relative_to(ROOT / PACKAGE).parts[0].removesuffix('.py')
        if part in LEFT_OUT:
            continue
        used = found.setdefault(part, set())
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            names = [node.module or ''] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                words = name.split('.')
                if words[0] == PACKAGE and len(words) > 1:
                    used.add(words[1])
    return {part: (used - {part}) & set(found) for part, used in found.items()}


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the row of each part, from 0 for parts without imports."""
    found: dict[str, int] = {}

    def level(part: str) -> int:
        if part not in found:
            found[part] = 1 + max((level(each) for each in graph[part]), default=-1)
        return found[part]

    for part in graph:
        level(part)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph without the arrows that a longer way implies."""
    below: dict[str, set[str]] = {}
    for part in sorted(graph, key=levels(graph).__getitem__):
        below[part] = graph[part].union(*(below[each] for each in graph[part]))
    return {
        part: {each for each in used if not any(each in below[other] for other in used)}
        for part, used in graph.items()
    }


def picture() -> str:
    """Return the picture."""
    graph = imports()
    rows: dict[int, list[str]] = {}
    for part, row in sorted(levels(graph).items()):
        rows.setdefault(row, []).append(part)
    boxes: dict[str, tuple[float, float, float]] = {}
    total = max(_width(parts) for parts in rows.values()) + 2 * MARGIN
    height = MARGIN * 2 + ROW * max(rows) + HEIGHT
    for row, parts in rows.items():
        x = (total - _width(parts)) / 2
        for part in parts:
            width = _box(part)
            boxes[part] = (x, height - MARGIN - HEIGHT - ROW * row, width)
            x += width + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height:.0f}">',
        f'<style>{STYLE}</style>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8" style="marker-end:none"/>'
        '</marker></defs>',
    ]
    for part, used in sorted(reduced(graph).items()):
        for each in sorted(used):
            (x, y, width), (to_x, to_y, to_width) = boxes[part], boxes[each]
            start, end = x + width / 2, to_x + to_width / 2
            lines.append(
                f'<path d="M{start:.0f} {y + HEIGHT:.0f}C{start:.0f} {y + HEIGHT + 24:.0f} '
                f'{end:.0f} {to_y - 24:.0f} {end:.0f} {to_y:.0f}"/>'
            )
    for part, (x, y, width) in sorted(boxes.items()):
        lines.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{HEIGHT}"/>')
        lines.append(
            f'<text x="{x + width / 2:.0f}" y="{y + 22:.0f}" text-anchor="middle">'
            f'{escape(_label(part))}</text>'
        )
    return '\n'.join([*lines, '</svg>', ''])


def _label(part: str) -> str:
    return f'{part}/' if (ROOT / PACKAGE / part).is_dir() else f'{part}.py'


def _box(part: str) -> float:
    return LETTER * len(_label(part)) + 18


def _width(parts: list[str]) -> float:
    return sum(map(_box, parts)) + GAP * (len(parts) - 1)


if __name__ == '__main__':
    PICTURE.write_text(picture(), encoding='utf-8')
