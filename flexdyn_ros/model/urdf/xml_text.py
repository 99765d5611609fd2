# SPDX-License-Identifier: Apache-2.0
"""
XML as text: parsed with the place of a mistake, and with prefixes that the file does not declare.

Namespaces in XML 1.0 forbids such prefixes, as in `drake:acceleration` and `<drake:joint>`, but
such files are shipped. urdfdom loads them by TinyXML, which has no namespaces. They are read here
by declaring the prefix; no element and no attribute of URDF has one, so that nothing else depends
on it. The prefixes xacro and flexdyn, or nearly so, stay errors: content for these must not be
ignored.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Optional, Union
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat
from xml.parsers.expat import errors as expat_errors

from flexdyn_ros.errors import ModelError

BYTE_ORDER_MARKS = (b'\xef\xbb\xbf', b'\xff\xfe', b'\xfe\xff')
_UNBOUND_PREFIX = expat_errors.codes[expat_errors.XML_ERROR_UNBOUND_PREFIX]
_ADDRESS = 'urn:undeclared-prefix'
_RESERVED = ('flexdyn', 'xacro')
# Prefixes that come closer to these than this are taken for misspelt.
_SIMILAR = 0.8


def local_name(element: Element) -> str:
    """Return the element's name without its namespace; '' for comments and the like."""
    tag = element.tag
    return tag.rpartition('}')[2] if isinstance(tag, str) else ''


def namespace(element: Element) -> str:
    """Return the address of the element's namespace, '' where it has none."""
    tag = element.tag
    return tag[1:].partition('}')[0] if isinstance(tag, str) and tag[:1] == '{' else ''


def parse_xml(text: Union[str, bytes], source: str) -> Element:
    """Parse XML; raise a ModelError with the line of a syntax error."""
    text = trimmed(text)
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        place = f'line {line}, column {column + 1}'
        if error.code == _UNBOUND_PREFIX:
            declared = declare_prefixes(text)
            if declared is not None:
                return parse_xml(declared, source)
            raise ModelError(
                f'The XML has an unbound prefix at {place}',
                file=source,
                advice='Declare it on <robot> with xmlns:prefix="..."; <flexdyn> and all '
                'inside it take no prefix',
            ) from None
        what = str(error).partition(': line')[0]
        raise ModelError(
            f'The XML is broken at {place}: {what}',
            file=source,
            advice='Correct the file there; an editor with XML support shows the spot',
        ) from None
    except (LookupError, ValueError) as error:
        raise ModelError(f'The XML cannot be decoded: {error}', file=source,
                         advice='Save the file as UTF-8') from None


def trimmed(text: Union[str, bytes]) -> Union[str, bytes]:
    """Return XML without white space before it, which a declaration of XML does not allow."""
    if isinstance(text, str):
        return text.lstrip('\ufeff \t\r\n')
    return text if text.startswith(BYTE_ORDER_MARKS) else text.lstrip()


def declare_prefixes(text: Union[str, bytes]) -> Optional[Union[str, bytes]]:
    """
    Return the XML with its undeclared prefixes declared on the root element.

    Args:
        text: XML.

    Returns:
        The XML, text where it was text or in UTF-16. It is None where all prefixes are declared,
        the XML is not sound otherwise, or such a prefix is (nearly) flexdyn or xacro.
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
    if not missing or any(_similar(prefix, known) for prefix in foreign for known in _RESERVED):
        return None
    added = ''.join(f' xmlns:{prefix}="{_ADDRESS}:{prefix}"' for prefix in missing)
    whole = data[:insert_at] + added.encode() + data[insert_at:]
    return whole.decode() if isinstance(text, str) else whole


def _similar(prefix: str, reserved: str) -> bool:
    return SequenceMatcher(None, prefix.lower(), reserved).ratio() > _SIMILAR
