# SPDX-License-Identifier: Apache-2.0
"""
Attributes with a prefix that the file does not declare, such as `drake:acceleration`.

Namespaces in XML 1.0 forbids them, but TinyXML, with which urdfdom reads URDF, knows no
namespaces, so that such files are shipped and load elsewhere. They are read here by declaring the
prefix; no attribute of URDF has one, so that nothing else depends on it. Elements with an
undeclared prefix stay an error, and so does the prefix flexdyn: what was meant for this package
must not be passed over.
"""

from __future__ import annotations

from typing import Optional
from typing import Union
from xml.parsers import expat

_ADDRESS = 'urn:undeclared-prefix'


def declare_prefixes(text: Union[str, bytes]) -> Optional[bytes]:
    """
    Return the XML with its undeclared attribute prefixes declared on the root element.

    Args:
        text: XML.

    Returns:
        The XML; None where it is not sound otherwise, or an element has such a prefix.
    """
    data = text.encode() if isinstance(text, str) else text
    used: set[str] = set()
    declared = {'xml', 'xmlns'}
    elements: set[str] = set()
    insert_at = -1

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal insert_at
        if insert_at < 0:
            insert_at = parser.CurrentByteIndex + 1 + len(name.encode())
        for attribute in attributes:
            prefix, colon, local = attribute.partition(':')
            if colon and prefix == 'xmlns':
                declared.add(local)
            elif colon:
                used.add(prefix)
        prefix, colon, _ = name.partition(':')
        if colon:
            elements.add(prefix)

    parser = expat.ParserCreate('utf-8' if isinstance(text, str) else None)
    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return None
    missing = used - declared
    if not missing or elements - declared or 'flexdyn' in missing:
        return None
    added = ''.join(f' xmlns:{prefix}="{_ADDRESS}:{prefix}"' for prefix in sorted(missing))
    return data[:insert_at] + added.encode() + data[insert_at:]
