"""Python 3.12 and later: strings in the fields of formatted strings may use the same quotes."""


def first():
    """First."""
    return f"{d["a"]} {f"{f"{1}"}"} {"}" + '{'} { # a comment: "
        x["""y
        """]!r:>{w["z"]}}"


def second(x=f"{x["}"]}", y=t"{z:{"'"}}"):
    """Second."""
    type X[T] = list[T]


def generic[T: (int, str), *Ts, **P](x: T) -> T:
    """Generic."""


class Box[T](list[T]):
    """Box."""
