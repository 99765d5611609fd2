# SPDX-License-Identifier: Apache-2.0
"""What a check of a model finds, as records."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = 'error'
WARNING = 'warning'
NOTE = 'note'


@dataclass(frozen=True)
class Finding:
    """
    Something doubtful in a model.

    Attributes:
        severity: "error" (strict loading refuses it), "warning" or "note".
        element: The XML element, "link", "joint" or "payload", or "robot".
        name: The name of the link or joint; of a payload, of the link that carries it.
        message: What was found, with its value.
        advice: What the user should do next.
    """

    severity: str
    element: str
    name: str
    message: str
    advice: str

    def __str__(self) -> str:
        """Return one line."""
        return f'{self.severity}: <{self.element}> "{self.name}": {self.message}. {self.advice}.'


@dataclass(frozen=True)
class LinkReport:
    """
    A link's row in the table of `flexdyn check`, for its undeformed whole.

    Attributes:
        name: Its name.
        mass: Mass [kg], of hub, beam and point masses.
        principal_moments: About the centre of mass, ascending [kg m^2].
        failed: Tests that failed: "mass", "positive" (a negative principal moment),
            "triangle" (the largest moment exceeds the sum of the others).
        excess: By how much the worst test failed, relative to the largest moment.
    """

    name: str
    mass: float
    principal_moments: tuple[float, float, float]
    failed: tuple[str, ...] = ()
    excess: float = 0.0


@dataclass(frozen=True)
class CheckReport:
    """
    All that `check_robot` found.

    Attributes:
        findings: What is doubtful, errors first.
        links: One row for each link.
    """

    findings: tuple[Finding, ...]
    links: tuple[LinkReport, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that strict loading refuses."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)
