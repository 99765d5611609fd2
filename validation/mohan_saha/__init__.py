# SPDX-License-Identifier: Apache-2.0
"""Cases of Mohan and Saha: the DeNOC form of flexible arms, and the flexible Canadarm."""
