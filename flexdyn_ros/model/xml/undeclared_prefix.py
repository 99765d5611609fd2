# SPDX-License-Identifier: Apache-2.0
"""
Names with a prefix that the file does not declare: `drake:acceleration`, `<drake:joint>`.

Namespaces in XML 1.0 forbids them, but TinyXML, with which urdfdom reads URDF, has no namespaces,
so that such files are shipped and load elsewhere. They are read here by declaring the prefix; no
element and no attribute of URDF has one, so that nothing else depends on it. The prefixes xacro
and flexdyn, or nearly so, stay errors: what was meant for them must not be ignored.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Optional
from typing import Union
from xml.parsers import expat

_ADDRESS = 'urn:undeclared-prefix'
_OWN = ('flexdyn', 'xacro')
# Prefixes that come closer to these than this are taken for misspelt.
_SIMILAR = 0.8


def declare_prefixes(text: Union[str, bytes]) -> Optional[Union[str, bytes]]:
    """
    Return the XML with its undeclared prefixes declared on the root element.

    Args:
        text: XML.

    Returns:
        The XML, text where it was text or in UTF-16; None where all prefixes are declared, the
        XML is not sound otherwise, or such a prefix is (nearly) flexdyn or xacro.
    """
    if isinstance(text, bytes) and text[:2] in (b'\xff\xfe', b'\xfe\xff'):
        text = text.decode('utf-16', errors='replace')
    data = text.encode(errors='replace') if isinstance(text, str) else text
    used: set[str] = set()
    declared: set[str] = set()
    on_root = {'xml', 'xmlns'}
    insert_at = -1

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal insert_at
        for item in (name, *attributes):
            prefix, colon, local = item.partition(':')
            if colon and prefix == 'xmlns':
                (on_root if insert_at < 0 else declared).add(local)
            elif colon:
                used.add(prefix)
        if insert_at < 0:
            insert_at = parser.CurrentByteIndex + 1 + len(name.encode())

    parser = expat.ParserCreate('utf-8' if isinstance(text, str) else None)
    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return None
    missing = sorted(used - on_root)
    foreign = used - on_root - declared
    if not missing or any(_similar(prefix, own) for prefix in foreign for own in _OWN):
        return None
    added = ''.join(f' xmlns:{prefix}="{_ADDRESS}:{prefix}"' for prefix in missing)
    whole = data[:insert_at] + added.encode() + data[insert_at:]
    return whole.decode() if isinstance(text, str) else whole


def _similar(prefix: str, own: str) -> bool:
    return SequenceMatcher(None, prefix.lower(), own).ratio() > _SIMILAR
