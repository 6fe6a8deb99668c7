"""Compares what the Go code found in Python sources with what Python's own parser says.

Standard input: one JSON object a line, {"path", "doc", "definitions": [{"name", "line", "doc", "signature"}], "must"}.
Standard output: one line for each difference, and at last the number of sources that were compared.
"""

import ast
import io
import json
import sys
import tokenize
import warnings

warnings.simplefilter("ignore")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def docstring(node):
    """The docstring as inspect.cleandoc has it, without the blanks that it leaves when no other line has text."""
    first, *rest = (ast.get_docstring(node) or "").split("\n")
    return "\n".join([first, *rest]) if "".join(rest).strip() else first if first.strip(" ") else ""


def definitions(node, around=""):
    for child in ast.iter_child_nodes(node):
        name = around
        if isinstance(child, DEFINITIONS):
            name = around + "." + child.name if around else child.name
            yield name, child
        yield from definitions(child, name)


def header(node):
    """The tree of a definition without its body and decorators."""
    node.body, node.decorator_list = [ast.Pass()], []
    return ast.dump(node)


def differences(ours, tree):
    if docstring(tree) != ours["doc"]:
        yield "module docstring"
    theirs = list(definitions(tree))
    theirs.sort(key=lambda d: d[1].lineno)
    names = [name for name, _ in theirs]
    if names != [d["name"] for d in ours["definitions"]]:
        yield f"names {set(names) ^ {d['name'] for d in ours['definitions']}}"
        return
    for (name, node), d in zip(theirs, ours["definitions"]):
        if node.lineno != d["line"]:
            yield f"{name}: line {node.lineno}, not {d['line']}"
        if docstring(node) != d["doc"]:
            yield f"{name}: docstring {docstring(node)!r}, not {d['doc']!r}"
        try:
            again = ast.parse(d["signature"] + ": pass").body[0]
        except SyntaxError as e:
            yield f"{name}: signature {d['signature']!r}: {e}"
            continue
        if header(again) != header(node):
            yield f"{name}: signature {d['signature']!r}"


count = 0
for line in sys.stdin:
    ours = json.loads(line)
    with open(ours["path"], "rb") as f:
        source = f.read()
    try:
        if tokenize.detect_encoding(io.BytesIO(source).readline)[0] not in ("utf-8", "utf-8-sig"):
            continue  # we read UTF-8 only
        source.decode("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError) as e:
        if ours.get("must"):
            print(f"{ours['path']}: {e}")
        continue  # not Python of this version, or not UTF-8
    count += 1
    for d in differences(ours, tree):
        print(f"{ours['path']}: {d}")
    if ours.get("error"):
        print(f"{ours['path']}: error {ours['error']}")
print(count)
