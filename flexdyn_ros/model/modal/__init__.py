# SPDX-License-Identifier: Apache-2.0
"""Flexible bodies: modes, their inertia integrals, foreshortening, and files of modes."""
