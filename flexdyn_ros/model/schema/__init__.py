# SPDX-License-Identifier: Apache-2.0
"""What <flexdyn> may hold: every element and attribute, and the page that lists them."""
