#!/usr/bin/env python3
# Shapes of definitions that the standard library has few of. It is parsed, never run.

(
    "The module's docstring, "  # in brackets,
    'in two pieces.'
)

import functools; from typing import overload


def one_line(): "The body is on the line."; return 1
def no_doc(): pass
def number(): 1
def joined(): "a" 'b' """c"""
def bracketed(): ("in brackets")
def twice_bracketed(): (("in " "two"))
def a_tuple(): ("not", "a docstring")
def bytes_(): b"not a docstring"
def formatted(): f"not a docstring"
def mixed(): "not" f" a docstring"
def computed(): "not a docstring" % ()
def method_call(): "not a docstring".strip()
def raw(): r"a raw \n one"
def upper(): R"""one \d"""
def unicode_(): u"a u one"
def escapes(): "tab\there \x41\u00e9\U0001F600\101\0 \q \
joined \' \" \a\b\f\v\\ end"
def in_text(): "it says ''' and \"\"\""
def empty(): ""


@functools.wraps(
    no_doc,
)
@functools.lru_cache(maxsize=None)  # a comment
def decorated(a, b=1):  # a comment: with a colon
    # and one before the docstring

    """Decorated."""


async def waits(x: int = 3, /, y: "str" = "):", *args: int, key=lambda q: (q, ":"), **rest: dict[str, int]) -> "list[int]":
    'Waits.'


def many_lines(
    a,  # first
    b: int
        = 3,
    *,
    c={"x": 1, 'y': [1, 2]},
):
    """
    Many lines.

        Indented.
    \tTab.

    """


def continued(a, \
              b) \
        -> int:
	"""Indented by a tab."""
	def inner():
	    "Inner."
	    class Local:
	        "Local."
	        def deep(self): "Deep."


def lambda_result() -> lambda: 0: "Odd, and valid."


class Plain: "On the line."


class Outer(Base, metaclass=Meta, flag=1):

    '''Outer.

    More.
    '''

    x = f"{x!r:>{width}} {{ {d['}']} {y:%H:%M} \N{BULLET} \{z}" "'"
    y = rf'\{x}' + F'{1:{2}}'
    z = """ ' " \""" def not_one(): """

    def method(self):
        """Method."""
        if self:
            def nested():
                "Nested."
        return """
def not_two(): 'no'
"""

    @property
    def value(self):
        "The value."

    @value.setter
    def value(self, v):
        pass

    class Inner:
        """Inner."""

        @staticmethod
        async def far(): 'Far.'


if True:
    def branch():
        "First."
elif False:
    def branch():
        "Second."
else:
    def branch(): pass

try:
    pass
except (ValueError,
        TypeError):
    class Rescue:
        "Rescue."
  # a comment indented by two

for i in [1,
2, 3]: pass
def after(): """After."""
