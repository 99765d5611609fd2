# SPDX-License-Identifier: Apache-2.0
"""Instructions: each rounded as generated Python rounds it, and none that could do harm."""

from array import array
from dataclasses import replace
import random

from codegen.compiled import needs_extension
from codegen.programs import COUNT
from codegen.programs import random_trace
from codegen.programs import symbols
from codegen.programs import traced_of
from flexdyn_ros.codegen.emitting.instructions import Instructions
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.emitting.instructions import NUMBERS
from flexdyn_ros.codegen.emitting.instructions import WORD
from flexdyn_ros.codegen.emitting.lowering import lowered
from flexdyn_ros.codegen.emitting.lowering import OPERATIONS
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.native.interpreted_program import loaded
from flexdyn_ros.symbolic.graph import Graph
import pytest


@pytest.fixture(autouse=True)
def with_extension():
    """Skip where there is no extension."""
    needs_extension()


def test_every_operation_is_used():
    """The random expressions above leave none out."""
    found = {
        operation.name for seed in range(40)
        for operation in lowered(schedule(random_trace(seed))).operations
    }
    # Copies are made when registers are given out.
    assert found | {'copy', 'end'} == {name for name, _, _ in OPERATIONS}


def test_both_sides_name_the_operations_alike():
    """The extension's table is the one that programs are made with."""
    assert needs_extension().OPERATIONS == OPERATIONS


def example():
    """Return the instructions of some expressions."""
    return instructions_of(random_trace(1))


def test_instructions_are_kept_as_they_are():
    """To bytes and back."""
    made = example()
    assert Instructions.from_bytes(made.to_bytes()) == made


def words(made):
    """Return the words of a program."""
    code = array(WORD)
    code.frombytes(made.code)
    return code


def changed(made, place, word):
    """Return a program with another word."""
    code = words(made)
    code[place] = word
    return replace(made, code=code.tobytes())


MALFORMED = {
    'no code': lambda made: replace(made, code=b''),
    'half a word': lambda made: replace(made, code=made.code[:-2]),
    'no end': lambda made: replace(made, code=made.code[:-8]),
    'half an end': lambda made: replace(made, code=made.code[:-4]),
    'more after the end': lambda made: replace(made, code=made.code + made.code),
    'unknown operation': lambda made: changed(made, 0, len(OPERATIONS)),
    'huge operation': lambda made: changed(made, 0, 2**32 - 1),
    'empty run': lambda made: changed(made, 1, 0),
    'huge run': lambda made: changed(made, 1, 2**32 - 1),
    'writes an input': lambda made: changed(made, 2, 0),
    'writes a constant': lambda made: changed(made, 2, made.inputs + made.results),
    'writes beyond': lambda made: changed(made, 2, made.registers),
    'reads beyond': lambda made: changed(made, 3, made.registers),
    'reads what is not there yet': lambda made: changed(made, 3, made.registers - 1),
    'too few registers': lambda made: replace(made, registers=made.inputs),
    'negative registers': lambda made: replace(made, registers=-1),
    'negative inputs': lambda made: replace(made, inputs=-1),
    'a result more': lambda made: replace(made, results=made.results + 1),
    'no functions': lambda made: replace(made, functions=()),
    'a function without numbers': lambda made: replace(
        made, functions=tuple((kind, sizes, ()) for kind, sizes, _ in made.functions)),
    'a function of another kind': lambda made: replace(
        made, functions=tuple((NUMBERS['add'], *rest) for _, *rest in made.functions)),
    'sizes that are too large': lambda made: replace(
        made, functions=tuple((k, tuple(2**62 for _ in s), n) for k, s, n in made.functions)),
}


@pytest.mark.parametrize('kind', MALFORMED)
def test_malformed_programs_are_refused(kind):
    """Before anything runs."""
    made = example()
    loaded(made)
    with pytest.raises(ValueError, match='malformed'):
        loaded(MALFORMED[kind](made))


def test_no_change_of_a_word_can_crash_the_process():
    """What is accepted runs, whatever it computes."""
    rng, made = random.Random(4), example()
    module = needs_extension()
    size, accepted = len(words(made)), 0
    for _ in range(3000):
        word = rng.choice((rng.randrange(40), rng.randrange(made.registers), 2**31, 2**32 - 1))
        try:
            program = loaded(changed(made, rng.randrange(size), word))
        except ValueError:
            continue
        accepted += 1
        kernel = module.Kernel(program, (made.inputs,), (), ((made.results,),), 0, (), 0.0)
        try:
            kernel([rng.gauss(0.0, 1.0) for _ in range(COUNT)])
        except ArithmeticError:
            pass
    assert 100 < accepted < 2900


def test_sizes_must_be_those_of_the_program():
    """A kernel reads and writes as many numbers as its program."""
    made, module = example(), needs_extension()
    for sizes, shapes in (((made.inputs + 1,), ((made.results,),)),
                          ((made.inputs,), ((made.results + 1,),))):
        with pytest.raises(ValueError, match='sizes'):
            module.Kernel(loaded(made), sizes, (), shapes, 0, (), 0.0)


def test_an_unknown_function_is_named():
    """Rather than left out."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    node = graph._node(6, (first,), 'gamma')
    with pytest.raises(ValueError, match='"gamma"'):
        instructions_of(traced_of(graph, names, [node]))
