# SPDX-License-Identifier: Apache-2.0
"""Write docs/functions.md: the functions of Dynamics, from the table that the code reads."""

from pathlib import Path

from flexdyn_ros.dynamics.functions import Function, FUNCTIONS

PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'functions.md'
HEAD = """# Functions

Written by `scripts/env.sh python scripts/functions_page.py`. Checks, generated code, batches and
compiled calls read the same table, `flexdyn_ros/dynamics/functions.py`. Each function is a method
of the reference algorithms, and a name for `fd.generate` and `Dynamics.compile`; those without
"loops" are methods of `Dynamics` too. Vectors: `q` (nq,), `joint_q` (nq - n_modes,), `joint_qd`
and `joint_qdd` (n_joints,), `modal_state` (4 n_modes,), `step` (2,), others (nv,).

| function | arguments | gives | depends on |
|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    return HEAD + ''.join(_row(name, function) for name, function in FUNCTIONS.items())


def _row(name: str, function: Function) -> str:
    arguments = [f'`{each}`' for each in function.inputs]
    arguments += ['frame'] if function.of_frame else []
    arguments += ['parameters'] if function.of_parameters else []
    arguments += ['wrenches'] if function.takes_wrenches else []
    depends = ['loops'] if function.of_loops else []
    depends += ['gravity'] if function.uses_gravity else []
    depends += ['payloads'] if function.uses_inertia else []
    summary = function.summary.replace('|', '\\|')
    return f'| `{name}` | {", ".join(arguments)} | {summary} | {", ".join(depends)} |\n'


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
