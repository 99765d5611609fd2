# SPDX-License-Identifier: Apache-2.0
"""
Command: make test-arm64.

Compiles generated functions and batches for ARM64 with a cross compiler, runs them under QEMU and
compares their results with those of this machine. They agree to 1e-12 of each result's largest
entry. The extension is compiled for ARM64 too. On a machine without the tools it prints how to
install them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.variants import CompiledAhead, Variants
from flexdyn_ros.codegen.compile import extension
from flexdyn_ros.codegen.compile.cache import model_digest
from flexdyn_ros.codegen.compile.compiled_c import batch_source, call_source, PIVOTS
from flexdyn_ros.codegen.compile.compiler import COMMON, GCC_FLAGS
from flexdyn_ros.codegen.tracing.functions import read_function
from flexdyn_ros.codegen.tracing.interface import Trace
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
COMPILER, EMULATOR = 'aarch64-linux-gnu-gcc', 'qemu-aarch64'
INSTALL = 'sudo apt-get install -y gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user'
TOLERANCE = 1e-12
SAMPLES = 37
ROBOTS = ('puma560', 'stanford_arm', 'canadarm', 'satellite_arm', 'segmented_arm', 'cobot7')
FUNCTIONS = (
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'mass_matrix', 'gravity_vector',
    'friction_vector', 'elastic_vector', 'frame_pose', 'jacobian_rate_qd', 'kinetic_energy',
    'inverse_dynamics_derivatives',
)
# Reads inputs by samples from standard input, writes results to standard output.
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#define ROOM(count) aligned_alloc(64, ((count) + 8) / 8 * 64)
int main(void)
{
    static const long sizes[] = {%(sizes)s}, counts[] = {%(counts)s};
    enum { N = %(samples)d, INPUTS = %(inputs)d, OUTPUTS = %(outputs)d };
    const double *in[INPUTS];
    double *out[OUTPUTS], *work = ROOM(flexdyn_numbers[1]);
    unsigned char flags[N];
    for (int k = 0; k < INPUTS; ++k) {
        double *rows = ROOM(N * sizes[k]);
        if (fread(rows, 8, N * sizes[k], stdin) != (size_t)(N * sizes[k]))
            return 2;
        in[k] = rows;
    }
    for (int k = 0; k < OUTPUTS; ++k)
        out[k] = ROOM(N * counts[k]);
%(call)s
    for (int k = 0; k < OUTPUTS; ++k)
        fwrite(out[k], 8, N * counts[k], stdout);
    return 0;
}
"""
BATCH = '    flexdyn_batch(N, in, sizes, out, flags, work, 1);\n    (void)flags;'
CALL = r"""
    (void)flags;
    for (long i = 0; i < N; ++i) {
        double x[%(n_x)d], y[%(n_y)d], *next = x;
        const double *from = y;
        for (int k = 0; k < INPUTS; ++k)
            for (long j = 0; j < sizes[k]; ++j)
                *next++ = in[k][i * sizes[k] + j];
        flexdyn_call(x, y, work);
        for (int k = 0; k < OUTPUTS; ++k)
            for (long j = 0; j < counts[k]; ++j)
                out[k][i * counts[k] + j] = *from++;
    }"""


@dataclass(frozen=True)
class Case:
    """
    A function of a robot at some states.

    Attributes:
        name: Its kind.
        trace: The program.
        samples: Its inputs, (SAMPLES, n) each.
        expected: Its results on this machine, (SAMPLES, ...) each.
        batch: The same by its function over many samples.
    """

    name: str
    trace: Trace
    samples: list[np.ndarray]
    expected: list[np.ndarray]
    batch: list[np.ndarray]


def case_of(robot: fd.Robot, dyn: fd.Dynamics, text: str) -> Case:
    """Return a function at random states, with its results on this machine."""
    (request,) = read_function(robot, text)
    digest, gravity = model_digest(robot), list(robot.gravity_vector)
    payloads = {each.link: each.inertia for each in robot.payloads}
    ahead = CompiledAhead()
    variant = Variants(robot, digest, gravity, payloads, ahead).variant(request, ())
    rng = np.random.default_rng(7)
    samples = []
    for each in variant.inputs:
        rows = 0.1 * rng.normal(size=(SAMPLES, len(each.symbols)))
        for start in variant.quaternions if each.name == 'q' else ():
            rows[:, start : start + 4] = rng.normal(size=(SAMPLES, 4))
            rows[:, start : start + 4] /= np.linalg.norm(
                rows[:, start : start + 4], axis=1, keepdims=True
            )
        samples.append(rows)
    frame = [] if request.frame is None else [request.frame]
    rows = [getattr(dyn, request.name)(*each, *frame) for each in zip(*samples)]
    single = len(variant.outputs) == 1
    results = [(row,) if single else row for row in rows]
    expected = [np.array(each, dtype=float) for each in zip(*results)]
    batch = getattr(dyn.batch, request.name)(*samples, *frame)
    many = [batch] if single else list(batch)
    return Case(f'{robot.name} {text}', variant.trace(), samples, expected, many)


def worst_difference(case: Case, batch: bool, folder: Path) -> float:
    """Return the largest difference to this machine, as a part of a result's largest entry."""
    trace = case.trace
    wanted = case.batch if batch else case.expected
    outputs = [each for each in trace.outputs if each.name != PIVOTS]
    values = {
        'sizes': ', '.join(str(len(each.symbols)) for each in trace.inputs),
        'counts': ', '.join(str(each.size) for each in outputs), 'samples': SAMPLES,
        'inputs': len(trace.inputs), 'outputs': len(outputs),
        'n_x': sum(len(each.symbols) for each in trace.inputs),
        'n_y': sum(each.size for each in trace.outputs),
    }
    values['call'] = BATCH if batch else CALL % values
    source = batch_source(trace, ()) if batch else call_source(trace)
    program = _compiled(source + MAIN % values, folder, ['-static', '-O2'])
    given = b''.join(np.ascontiguousarray(each).tobytes() for each in case.samples)
    done = subprocess.run([EMULATOR, str(program)], input=given, capture_output=True, check=True)
    numbers, worst = np.frombuffer(done.stdout), 0.0
    for expected in wanted:
        found, numbers = numbers[: expected.size], numbers[expected.size :]
        if expected.size:
            # A batch returns one array, a call one for each sample.
            rows = np.abs(expected).reshape(1 if batch else SAMPLES, -1)
            scale = rows.max(axis=1, keepdims=True)
            off = np.abs(found.reshape(SAMPLES, -1) - expected.reshape(SAMPLES, -1))
            worst = max(worst, float((off / np.maximum(scale, 1e-300)).max()))
    return worst


def _compiled(source: str, folder: Path, flags: list[str]) -> Path:
    text, program = folder / 'code.c', folder / 'program'
    text.write_text(source, encoding='utf-8')
    common = [flag for flag in COMMON if flag not in ('-shared', '-fPIC')]
    subprocess.run(
        [COMPILER, *common, *GCC_FLAGS, *flags, str(text), '-o', str(program), '-lm'], check=True,
    )
    return program


def compile_extension(folder: Path) -> None:
    """Compile the extension for ARM64, against this machine's headers of Python and numpy."""
    flags = [
        *extension.FLAGS, '-std=gnu11', '-fPIC', '-Wall', '-Wextra', '-Werror',
        '-Wno-missing-field-initializers', '-Wno-cast-function-type',
        f'-I{sysconfig.get_path("include")}', f'-I{np.get_include()}', f'-I{extension.RUNTIME}',
    ]
    subprocess.run(
        [COMPILER, *flags, '-c', str(extension.SOURCE), '-o', str(folder / 'calls.o')], check=True,
    )


def main() -> int:
    """Run all cases; return the number of those that differ."""
    missing = [name for name in (COMPILER, EMULATOR) if shutil.which(name) is None]
    if missing:
        print(f'{" and ".join(missing)} not found. Fix:\n  {INSTALL}', file=sys.stderr)
        return 1
    failed = 0
    with tempfile.TemporaryDirectory(prefix='flexdyn_arm64_') as name:
        folder = Path(name)
        compile_extension(folder)
        print('extension compiled')
        for robot_name in ROBOTS:
            robot = fd.load_robot(ROOT / 'urdf' / f'{robot_name}.urdf.xacro')
            dyn = fd.Dynamics(robot, 'c')
            for text in FUNCTIONS:
                case = case_of(robot, dyn, text)
                for batch in (False, True):
                    off = worst_difference(case, batch, folder)
                    failed += off > TOLERANCE
                    kind = 'batch' if batch else 'call'
                    verdict = 'ok' if off <= TOLERANCE else 'DIFFERS'
                    print(f'{verdict:8}{off:8.1e}  {case.name}, {kind}', flush=True)
    print(f'{failed} differ by more than {TOLERANCE:g}')
    return min(failed, 1)


if __name__ == '__main__':
    sys.exit(main())
