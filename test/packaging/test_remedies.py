# SPDX-License-Identifier: Apache-2.0
"""Every error and warning of the package ends in a remedy, or in the expected value."""

import ast
import builtins
import re

from clean_environment import ROOT
from test_documents import template

IMPERATIVES = (
    'activate add begin bend build call cancel change check choose close compare compile '
    'connect convert correct deactivate declare describe divide draw drive drop enable export '
    'extend fill fix free generate give hold identify improve increase install join keep leave '
    'let limit load lower make measure merge move name omit open order pass pipe place plan '
    'play prescribe publish put raise read record reduce remove rename repair replace restart '
    'run save see send set shorten simulate start stop take try update use wait widen write'
).split()
REMEDY = re.compile(
    r'\b(expected|expects|must|needs?|needed|known|supported are|allowed|allows|takes|did you '
    rf'mean)\b|(?:^|[.:;,?"X] |\bor |\band |\bthen )(?:{"|".join(IMPERATIVES)})\b', re.IGNORECASE)
"""A requirement, a choice, or a verb in the imperative at the head of a clause."""
PASSED_ON = re.compile(r'advice|hint|did_you_mean|_INSTALL|INSTALL|OWN_MASS|wanted', re.I)
"""Values that hold a remedy, by their names."""
INTERNAL = {
    'ArithmeticError', 'FloatingPointError', 'OverflowError', 'AttributeError', 'ImportError',
    'ZeroDivisionError', 'NotImplementedError', 'ValueError', 'SystemExit', 'KeyError',
}
"""Errors of Python that the package catches: the message that contains one has the remedy."""
LOGS = {'warning', 'warn', 'error', 'exception', 'fatal', 'critical'}


def name_of(node):
    """Return the last name of a called function or class."""
    return getattr(node, 'attr', getattr(node, 'id', ''))


def modules():
    """Yield name and syntax tree of every module of the package."""
    for path in sorted((ROOT / 'flexdyn_ros').rglob('*.py')):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding='utf-8'))


def text_of(call):
    """Return the text of a call, "expected" for each value that holds a remedy."""
    parts = []
    for argument in (*call.args, *(each.value for each in call.keywords)):
        held = [ast.unparse(node) for node in ast.walk(argument)
                if isinstance(node, (ast.Name, ast.Attribute))]
        parts += [template(node) for node in ast.walk(argument)
                  if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))][:1]
        parts += ['expected' for each in held if PASSED_ON.search(each)][:1]
        parts += [template(each) for node in ast.walk(argument) if isinstance(node, ast.IfExp)
                  for each in (node.body, node.orelse)]
    return '. '.join(parts)


def has_remedy(call):
    """Return whether a call that makes an error or a log line has a remedy."""
    text = text_of(call)
    return bool(REMEDY.search(text) or not re.search(r'[a-z]{3}', text))


def remedied(trees):
    """Return the classes of errors that append a remedy or are caught, by their definitions."""
    classes = {node.name: node for _, tree in trees for node in ast.walk(tree)
               if isinstance(node, ast.ClassDef) and node.name[0] != '_'}
    found = set(INTERNAL)
    for name, node in classes.items():
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)
                 and name_of(call.func) == '__init__']
        if any(REMEDY.search(text_of(call)) for call in calls):
            found.add(name)
        if {name_of(base) for base in node.bases} <= {'Exception', 'ArithmeticError'}:
            found.add(name)  # caught in the package
    return found - {'FlexdynError', 'ModelError', 'ScenarioError'}


def passed_on(tree):
    """Return the names in each handler's raises of errors of the package, which have remedies."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name:
            kinds = getattr(node.type, 'elts', [node.type])
            if not any(hasattr(builtins, name_of(kind)) for kind in kinds):
                found.update((id(child), node.name) for child in ast.walk(node))
    return found


def without_remedy(tree, classes):
    """Yield line and text of each error and warning of a module without a remedy."""
    passed = passed_on(tree)
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call):
            continue
        name = name_of(call.func)
        if name in classes or name[:1] == '_':  # a helper holds the error itself
            continue
        if isinstance(node, ast.Raise) or name in LOGS or name.endswith(('Error', 'Refused')):
            names = {name_of(each) for each in ast.walk(call)}
            if not has_remedy(call) and passed.get(id(call)) not in names:
                yield call.lineno, text_of(call)


def test_errors_and_warnings_have_remedies():
    trees = list(modules())
    classes = remedied(trees)
    found = sorted({(name, *each) for name, tree in trees
                    for each in without_remedy(tree, classes)})
    assert not found, '\n'.join(f'{name}:{line}: {text}' for name, line, text in found)


def test_a_message_without_a_remedy_is_found():
    tree = ast.parse('raise FlexdynError(f"{name} is wrong")\n'
                     'log.warning("The node is slow. Raise the rate.")\n'
                     'raise place.error("It is wrong", "Write a name")\n'
                     'raise place.error("The load is wrong")\n'
                     'raise UnknownName("link", name, known)\n'
                     'try:\n    pass\nexcept ValueError as error:\n'
                     '    raise ArgumentError("path", f"is wrong: {error}")\n'
                     'except ModelError as error:\n    raise FlexdynError(f"No arm: {error}")')
    assert {line for line, _ in without_remedy(tree, {'UnknownName'})} == {1, 4, 9}
