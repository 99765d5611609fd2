# SPDX-License-Identifier: Apache-2.0
"""Cases of van der Merwe's dissertation of 1995."""
