# SPDX-License-Identifier: Apache-2.0
"""`flexdyn demo`: two flexible arms simulated, controlled, drawn and recorded over DDS."""
