# SPDX-License-Identifier: Apache-2.0
"""Generation of source code: the public call and its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import keyword
import math
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from flexdyn_ros.arguments import limited_number, one_of
from flexdyn_ros.codegen.export.c import c_program, emit_c, output_names
from flexdyn_ros.codegen.export.c_files import c_files
from flexdyn_ros.codegen.export.fortran import emit_fortran
from flexdyn_ros.codegen.export.operations import emitted_operations
from flexdyn_ros.codegen.export.python import emit_python
from flexdyn_ros.codegen.export.schedule import schedule
from flexdyn_ros.codegen.tracing.functions import read_function
from flexdyn_ros.codegen.tracing.interface import Input, Output
from flexdyn_ros.codegen.tracing.loads import read_loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.codegen.tracing.trace import ANGLE_TOLERANCE, methods, ROUND_OFF
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import (
    ArgumentError,
    did_you_mean,
    FlexdynError,
    SingularMassMatrix,
)
from flexdyn_ros.model.records.robot import require_robot, Robot
from flexdyn_ros.symbolic.optimise import PassReport

QUICK = 'quick'
LANGUAGES = {'c': '.c', 'python': '.py', 'fortran': '.f90'}
# Words of C99, and the names of its <stdio.h> and <math.h>, in lower case.
WORDS = frozenset("""
    abs auto break case char const continue default do double else enum extern float for goto if
    inline int long main register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while
    bufsiz clearerr eof fclose feof ferror fflush fgetc fgetpos fgets file filename_max fopen
    fopen_max fpos_t fprintf fputc fputs fread freopen fscanf fseek fsetpos ftell fwrite getc
    getchar gets l_tmpnam null perror printf putc putchar puts remove rename rewind scanf seek_cur
    seek_end seek_set setbuf setvbuf size_t snprintf sprintf sscanf stderr stdin stdout tmp_max
    tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
    double_t float_t fp_ilogb0 fp_ilogbnan fp_infinite fp_nan fp_normal fp_subnormal fp_zero
    fpclassify infinity isnormal math_errexcept math_errhandling math_errno signbit
""".split())
# Functions of <math.h>, which exist with the endings f and l too: these, and those of `math`.
FUNCTIONS = frozenset(name for name, value in vars(math).items() if callable(value)) | set("""
    fdim fma fmax fmin huge_val ilogb llrint llround logb lrint lround nan nearbyint nexttoward
    remquo rint round scalbln scalbn tgamma
""".split())


@dataclass(frozen=True)
class GeneratedCode:
    """
    Source code of a function.

    Attributes:
        source: The source text.
        counts: Operations of the equivalent C, called functions included: "mul" (with
            divisions), "add" (with subtractions) and "trig" (sin, cos and all other calls).
        language: c, python or fortran.
        function: The request.
        name: Identifier of the function in the source.
        inputs: Its arguments in order.
        outputs: Its results in order.
        report: Counts (mul, add, trig) of the traced program and after each pass.
        choices: Formulations chosen among equivalent ones.
        files: File names and texts: the source, and for C a header, an example main and a
            CMake snippet.
        work_size: Doubles of the work array, the last argument of C; 0 where it has none.
    """

    source: str
    counts: dict[str, int]
    language: str
    function: str
    name: str
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    report: tuple[PassReport, ...] = ()
    choices: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    work_size: int = 0

    def compile_python(self) -> Callable[..., Any]:
        """
        Return the function of Python source, ready to call.

        It takes sequences of floats and returns a list (rows of a matrix, a float), or a tuple
        of them for several results.

        Raises:
            ArgumentError: If the source is in another language.
        """
        if self.language != 'python':
            raise ArgumentError(
                'language', f'is "{self.language}"; only Python code runs here. '
                'Compile the source')
        return compile_python(self.source, self.name)


def compile_python(source: str, name: str) -> Callable[..., Any]:
    """Return a function of a generated Python module."""
    module: dict[str, Any] = {'__name__': f'flexdyn_generated_{name}'}
    exec(compile(source, f'<generated {name}>', 'exec'), module)  # noqa: S102
    return module[name]


def generate(
    robot: Robot,
    function: str,
    language: str = 'c',
    optimise: Union[bool, str] = True,
    arguments: Sequence[str] = (),
    *,
    name: Optional[str] = None,
    rotation_tolerance: Optional[float] = None,
    method: Optional[str] = None,
) -> GeneratedCode:
    """
    Return the source code of one function of a robot, or of several that share their work.

    Args:
        robot: The robot as loaded: its numbers, gravity and payloads become constants.
        function: Name of a method of Dynamics, or several joined by "+". A frame is given as
            "jacobian:<frame>"; without one it is the last link of the deepest chain of joints.
            Derivatives by parameters are by those that `arguments` names.
        language: "c", "python" or "fortran".
        optimise: Whether inertial parameters are regrouped and the passes run. "quick" leaves the
            search for fewer operations out: the statements are then those that `Dynamics` runs.
        arguments: Quantities that stay arguments: "gravity", "payload" (of the last link of the
            deepest chain), "payload:<link>", "wrench:<frame>" or "wrench:<frame>@<axes>". Or a
            parameter such as "<link>/mass". See `codegen.tracing.loads` and `parameters`.
        name: Identifier of the generated function; from the function's name when None.
        rotation_tolerance: Distance from 0, 1 and -1 within which entries of rotations are
            rounded. Right angles written with ten digits then cost nothing; 0 for none. When None
            it is 1e-9, and 1e-14 for "quick".
        method: One of equivalent formulations. The cheapest one when None. Accelerations are
            solved for by "articulated bodies" or "mass matrix and LDL^T". A mass matrix is found
            by "inverse dynamics", "outer links" or "composite bodies" (the default), or "composite
            bodies and inverse dynamics". The first three are Walker and Orin's methods 1 to 3.
            Derivatives by "rows and columns" of composite bodies or by "directions"
            (docs/derivatives.md). A rigid arm of few joints has "closed form" and "closed form in
            multiple angles" too.

    Raises:
        ArgumentError: If a function, language, argument or method is unknown, or robot is none.
        UnknownName: If a link or frame is unknown.
        SingularMassMatrix: If a coordinate moves no inertia, where the function solves for it.
    """
    require_robot(robot)
    if name is not None:
        _check_name(name)
    if not isinstance(language, str) or language not in LANGUAGES:
        hint = did_you_mean(str(language), LANGUAGES)
        raise ArgumentError('language', f'is "{language}". {hint}')
    one_of('optimise', optimise, (True, False, QUICK))
    quick = optimise == QUICK
    if rotation_tolerance is None:
        rotation_tolerance = ROUND_OFF if quick else ANGLE_TOLERANCE
    rotation_tolerance = limited_number('rotation_tolerance', rotation_tolerance, or_zero=True)
    requests = read_function(robot, function)
    loads = read_loads(robot, arguments)
    allowed = methods(robot, requests)
    if method is not None and (not isinstance(method, str) or method not in allowed):
        known = ', '.join(f'"{each}"' for each in allowed) or 'none'
        raise ArgumentError('method', f'is "{method}", and "{function}" allows {known} here')
    try:
        found = simplify(
            robot, function, requests, loads, optimised=bool(optimise), quick=quick,
            method=method, rotation_tolerance=rotation_tolerance,
        )
    except OverflowError as error:
        raise ArgumentError(
            'robot', f'has numbers too large for "{function}". Check its lengths, masses and loads'
        ) from error
    except ArithmeticError as error:
        raise _singular(robot) from error
    trace = found.trace
    if name is not None:
        if name.lower() in (*(each.name for each in trace.inputs), *output_names(trace)):
            raise ArgumentError('name', f'is "{name}", an argument of it. Choose another')
        trace = replace(trace, name=name)
    program = c_program(trace)
    c_source = emit_c(program)
    files: dict[str, str] = {}
    if language == 'c':
        source = c_source
        files = c_files(program)
    else:
        emit = emit_python if language == 'python' else emit_fortran
        source = emit(schedule(trace))
    return GeneratedCode(
        source, emitted_operations(program.plan), language, function, trace.name, trace.inputs,
        trace.outputs, found.report, trace.choices,
        {f'{trace.name}{LANGUAGES[language]}': source, **files},
        program.work_size if language == 'c' else 0,
    )


def _singular(robot: Robot) -> FlexdynError:
    """Return the error that names a coordinate without inertia."""
    reference = ReferenceBackend(
        robot, list(robot.gravity_vector), {each.link: each.inertia for each in robot.payloads})
    still = [0.0] * robot.nv
    try:
        reference.forward_dynamics(robot.neutral_configuration().tolist(), still, still)
    except SingularMassMatrix as singular:
        return singular
    return ArgumentError('robot', 'moves almost no inertia. Check its masses')


def _check_name(name: object) -> None:
    """Raise ArgumentError unless this is a free identifier in every language."""
    valid = isinstance(name, str) and re.fullmatch(r'[A-Za-z][A-Za-z0-9_]{0,62}', name)
    if not valid or keyword.iskeyword(str(name)):
        raise ArgumentError('name', f'is "{name}", expected an identifier of up to 63 letters')
    word = str(name).lower()
    bare = word[:-1] if word.endswith(('f', 'l')) else word
    if word in WORDS or not FUNCTIONS.isdisjoint((word, bare)):
        raise ArgumentError('name', f'is "{name}", a word of C or of its library. Choose another')
