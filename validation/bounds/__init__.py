# SPDX-License-Identifier: Apache-2.0
r"""
Least numbers of operations, proved by a linear program.

Proved bound
------------
A *program without cancellation* takes inputs and numbers to outputs by steps, each the sum, the
difference or the product of two things known before. The *support* of a step is the set of
monomials of its polynomial in the inputs. Without cancellation the support of a sum or a
difference is the union of the operands' supports. That of a product is all products of their
monomials: no monomial that is formed is lost again. Inputs are the quantities that the function is
a polynomial of. They are coordinates, components of forces, sines and cosines (between which no
identity is used), and the robot's numbers other than 0, 1 and -1. For any value of these numbers
the program has to be right. Operations on numbers alone and changes of sign are free. The bound is
on the steps of any such program.

Preconditions are checked for each function (`polynomials`). Every monomial of an output has each
input at most once, one number at most, and the coefficient 1 or -1. No monomial of an output
divides another one of the same output. No two of them differ in the number alone.

Supports alone
--------------
Take, of all programs of unions and products of sets that form the outputs' supports T_k, one with
the fewest steps. No program without cancellation has fewer. All of its steps lead to an output.
On a path from a step with support v to output k, monomials are chosen from the other factors.
They form a *context* (k, mu), with mu v contained in T_k. Hence

1. all supports are multilinear, and the factors of a product have no input in common;
2. no support has the monomial 1 besides others, for T_k holds no two monomials of which one
   divides the other. So there is no gain in adding a number, nor in multiplying with one. Steps on
   the robot's numbers alone have a number as support: it is an input;
3. different steps have different supports, none of them that of an input or 1;
4. a step that is no output and is read twice has two different contexts. Suppose there were one
   only, (k, mu), and let one of the two readers read the empty set instead. Output k loses no
   monomial. None is formed with v in two places, since it would be a square, so that mu v is still
   formed through the other reader. The reader itself is then no step any more.

Call an output, or a support that two contexts allow, a *node* (`sharing`). By 4, a step that is no
node is read once. So the steps fall into the *formulas* of the nodes. That of a node p is the step
p with all steps that are no nodes down to its *leaves*, which are nodes and inputs. It has one
step fewer than leaves.

Numbers as factors
------------------
A program for the robot's numbers as they are may multiply by any numbers, such as a reciprocal.
Let supports then be sets of monomials without numbers. Multiplying by a number leaves a support
as it is, and the statement on the others holds. The bound for the supports without numbers is
therefore one on the steps besides multiplications by numbers.

Formulas
--------
Where both factors a, b of a product have two monomials or more, a is allowed by the contexts of
two monomials of b. Both are therefore nodes or inputs. Where a has one monomial and is no node, b
is an input, a node, or of one monomial too. Steps of one monomial are products of leaves, which
may be multiplied in any order. So every product of a formula may be taken as a leaf v times the
rest. On the way from p down to a step of its formula, the step is multiplied with leaves. Their
product is its *place* C (again a set of monomials); below the product it is C v. Each leaf is a
factor (C, v) of this kind, or ends a way as a term (C, v). In that case C v is contained in p. The
linear program has a variable between 0 and 1 for every factor and term that p allows (`formula`).
It is 1 in our program where the formula has such a leaf. Leaves that differ in neither C nor v
share one, which can but lower the cost. The number of steps is at least the number of variables
that are 1, less the number of nodes formed.

Monomials
---------
Each monomial n of a node that is formed comes down one way through its formula. It goes from the
place 1 through factors (C, v), of which it takes one monomial each, to a term. Choose one for each
n: a flow of one unit, each of its branches at most the variable of the leaf taken. And each
monomial of an output comes down the chosen ways, from node to node. At each leaf it enters the
node that the leaf is. This is again a flow. Its branches are at most those of the node's own flow
for the monomial that arrives, and it enters only nodes that are formed. These flows are the rest
of the linear program (`relaxation`). So it has a solution whose value is at most the number of
steps, and its least value, rounded up, is a lower bound.

Proof
-----
Any multipliers of its rows give a lower bound of a linear program whose variables lie between 0
and 1. A solver finds good ones in floating point. They are rounded to multiples of 2**-30, and
their bound is computed in integers (`linear_program`), so that no tolerance of a solver enters.

Monotone circuits and their parse trees: M. Jerrum, M. Snir, Some exact complexity results for
straight-line computations over semirings, J. ACM 29 (1982) 874-897.
"""
