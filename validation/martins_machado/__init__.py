# SPDX-License-Identifier: Apache-2.0
"""Cases of Martins and Machado, 1997: links in rigid segments, and their integrators."""
