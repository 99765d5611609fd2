# SPDX-License-Identifier: Apache-2.0
"""The errors of the package: each keeps its data and names the remedy."""

from difflib import get_close_matches
from typing import Collection, Iterable, Optional


class FlexdynError(Exception):
    """Base of every error that this package raises on purpose."""


class ModelError(FlexdynError):
    """
    A robot description or its extension is wrong.

    Attributes:
        problem: The fault, with the offending value.
        file: Path of the description, or "<text>" when it came as text.
        element: The XML element, such as "flexible_link" or "joint".
        name: The name of the link, joint or loop concerned.
        advice: The next step for the user.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Optional[str] = None,
        element: Optional[str] = None,
        name: Optional[str] = None,
        advice: Optional[str] = None,
    ):
        self.problem, self.advice = problem, advice
        self.file, self.element, self.name = file, element, name
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        place = []
        if self.file:
            place.append(self.file)
        if self.element:
            place.append(f'<{self.element}>' + (f' "{self.name}"' if self.name else ''))
        elif self.name:
            place.append(f'"{self.name}"')
        sentence = ': '.join([*place, _closed(self.problem)])
        return f'{sentence} {_closed(self.advice)}' if self.advice else sentence


class NotYetSupported(ModelError):
    """A part of the extension or of the contract that is understood but not computed yet."""


class UnknownName(FlexdynError):
    """
    A link, joint, frame or coordinate that the robot does not have.

    Attributes:
        kind: The kind of name, such as "link".
        name: The unknown name.
        known: The names that exist.
    """

    def __init__(self, kind: str, name: object, known: Iterable[str]):
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f'No {kind} is called "{name}". {did_you_mean(name, self.known)}')


def require_known(kind: str, names: Iterable[object], known: Collection[str]) -> None:
    """Raise UnknownName for the first of some names that is not among the known ones."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise UnknownName(kind, name, known)


class ArgumentError(FlexdynError, ValueError):
    """
    A value passed to a method has the wrong shape, type or range.

    Attributes:
        argument: The name of the argument.
        problem: The fault of it.
    """

    def __init__(self, argument: str, problem: str):
        self.argument, self.problem = argument, problem
        super().__init__(f'Argument "{argument}" {_closed(problem)}')


class NonFiniteResult(FlexdynError, ArithmeticError):
    """
    Finite arguments have no finite result: numbers on the way are too large.

    Attributes:
        function: The computed function.
        argument: The largest number among the arguments, such as "qd[2]".
        value: That number.
    """

    def __init__(self, function: str, argument: str, value: float):
        self.function, self.argument, self.value = function, argument, value
        super().__init__(
            f'{function} has no finite result: intermediate numbers are too large. The largest '
            f'argument is {argument} = {value:g}; check its value and unit.'
        )


class FileNotWritten(FlexdynError, OSError):
    """
    A file cannot be written, as the disk is full for instance; no part of it is left.

    Attributes:
        path: The file.
        reason: The reason that the system reports.
        exit_code: Of the command line: the call is wrong, not the model.
    """

    exit_code = 2

    def __init__(self, path: str, reason: str):
        self.path, self.reason = path, reason
        super().__init__(
            f'{path} cannot be written: {reason}. Check place, space and permissions.')


class LoopsCannotClose(FlexdynError):
    """
    No state near the given one meets all loops.

    Attributes:
        loop: The loop that stays open the most.
        gaps: The gap in each constrained direction, by `<loop>/tx` [m | rad].
    """

    def __init__(self, loop: str, gaps: dict[str, float], advice: str):
        self.loop, self.gaps = loop, dict(gaps)
        places = [(gap, *name.rpartition('/')) for name, gap in gaps.items()]
        errors = ', '.join(
            f'{gap:.3g} {"rad" if direction[0] == "r" else "m"} in {direction}'
            for gap, owner, _, direction in places if owner == loop
        )
        sentence = f'Loop "{loop}" does not close: its error is {errors}'
        super().__init__(f'{sentence}. {advice.rstrip(".")}.')


class UnattainableMotion(FlexdynError):
    """
    A motion that the actuated joints of a robot with loops cannot make.

    Attributes:
        coordinate: The passive coordinate that would need the largest force.
        force: That force [N m | N].
    """

    def __init__(self, coordinate: str, force: float):
        self.coordinate, self.force = coordinate, force
        super().__init__(
            f'The motion needs a force of {force:.4g} on "{coordinate}", which is not actuated. '
            'Name more joints in <actuated>, or choose a motion that the actuated joints can make.'
        )


class SingularMassMatrix(FlexdynError):
    """
    Forward dynamics has no unique result: some motion meets no inertia.

    Attributes:
        coordinate: The coordinate whose motion meets no inertia.
        links: The links that move with it.
    """

    def __init__(self, coordinate: str, links: Iterable[str], advice: str):
        self.coordinate, self.links = coordinate, tuple(links)
        moved = ', '.join(self.links) or 'none'
        super().__init__(
            f'Coordinate "{coordinate}" moves no inertia (links: {moved}). '
            f'{advice.rstrip(".")}.'
        )


def _closed(sentence: str) -> str:
    """Return the sentence with exactly one mark at its end."""
    return sentence if sentence.endswith(('?', '.')) else sentence + '.'


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return 'Did you mean "x"?', or the known names when none comes close."""
    names = list(dict.fromkeys(known))
    close = get_close_matches(str(name), names, n=1, cutoff=0.6)
    if close:
        return f'Did you mean "{close[0]}"?'
    shown = ', '.join(names[:12]) + (', ...' if len(names) > 12 else '')
    return f'Known: {shown}.' if names else 'There are none: remove it.'
