# SPDX-License-Identifier: Apache-2.0
"""The algorithms of flexible multibody dynamics, written once over scalars of any kind."""
