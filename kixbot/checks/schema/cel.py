"""CEL rules of CRDs (`x-kubernetes-validations`), and patterns, which Kubernetes reads in the same dialect (RE2).

The work is done by cel-expr-python, bindings to the C++ library. A rule that it cannot compile (Kubernetes has
functions of its own, such as `quantity` and `isURL`) or that speaks of the object's former state is not evaluated, and
never an error. So it is where the library is missing: it has no builds for some platforms.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kixbot.checks.schema.faults import CEL, dotted
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.shape import mapping

_DEAREST = 1_000_000
"""Steps that nested macros of one rule may take over one value; a dearer rule is not evaluated."""
_MACRO = re.compile(r"\.(all|exists|exists_one|map|filter|transformList|transformMap|sortBy)\s*\(")
_FORMER = re.compile(r"\boldSelf\b")
_RESERVED = frozenset(
    {
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return",
    }
)  # fmt: skip
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))


@cache
def _environment() -> Any:
    """The library with Kubernetes' extensions of strings, optionals and encoders; None where it is not installed."""
    try:
        from cel_expr_python import cel  # noqa: PLC0415  optional, and loaded where a CRD has rules only
        from cel_expr_python.ext import ext_encoders, ext_optional, ext_strings  # noqa: PLC0415
    except ImportError:
        return None
    return cel.NewEnv(
        variables={"self": cel.Type.DYN, "pattern": cel.Type.DYN},
        extensions=[ext_strings.ExtStrings(), ext_optional.ExtOptional(), ext_encoders.ExtEncoders()],
    )


@cache
def _compiled(expression: str) -> Any:
    environment = _environment()
    if environment is None:
        return None
    try:
        return environment.compile(expression)
    except (RuntimeError, ValueError, TypeError):
        return None


def _evaluated(expression: str, **data: Any) -> Any:
    """The value of an expression; None where it has none that can be known."""
    compiled = _compiled(expression)
    if compiled is None:
        return None
    try:
        result = compiled.eval(data=data)
    except (RuntimeError, ValueError, TypeError):
        return None
    if result.type() == _environment_type("ERROR"):
        return _Failure(str(result.value()))
    value = result.plain_value()
    return value if isinstance(value, bool | str) else None


@cache
def _environment_type(name: str) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415  as above

    return getattr(cel.Type, name)


class _Failure(str):
    """Why an expression had no value."""

    __slots__ = ()


def find_match(pattern: str, text: str) -> bool | None:
    """Whether a pattern is found in a text; None where nobody can tell."""
    found = _evaluated("self.matches(pattern)", self=text, pattern=pattern)
    return found if isinstance(found, bool) else None


def judge_rules(schema: Mapping[str, Any], value: Any, at: Raw) -> Iterator[Fault]:
    """The rules of one schema that a value breaks."""
    if value is None:
        return
    shaped: Any = None
    for rule in schema.get("x-kubernetes-validations") or ():
        expression = rule.get("rule") if isinstance(rule, dict) else None
        if not isinstance(expression, str) or _FORMER.search(expression) or _is_dear(expression, value):
            continue
        if shaped is None:
            shaped = _shaped(value, schema)
        answer = _evaluated(expression, self=shaped)
        if isinstance(answer, _Failure) and "Key not found" in answer:
            key = answer.rpartition(":")[2].strip()[:80]
            text = f"has no {key} in {dotted(at)}, which a rule of its CRD reads"
            yield Fault(rule=CEL, at=at, text=text, hint=_hint(expression))
        if answer is False:
            yield Fault(rule=CEL, at=at, text=f"{_message(rule, shaped)} (in {dotted(at)})", hint=_hint(expression))


def _message(rule: Mapping[str, Any], value: Any) -> str:
    said = None
    if isinstance(written := rule.get("messageExpression"), str):
        said = _evaluated(written, self=value)
    if not isinstance(said, str) or isinstance(said, _Failure) or not said.strip():
        said = rule.get("message")
    text = said if isinstance(said, str) and said.strip() else f"failed rule: {rule['rule']}"
    return "breaks a rule of its CRD: " + " ".join(text.split())[:200]


def _hint(expression: str) -> str:
    return f"make this true: {' '.join(expression.split())[:200]}"


def _is_dear(expression: str, value: Any) -> bool:
    steps: int = _size(value) ** max(len(_MACRO.findall(expression)), 1)
    return steps > _DEAREST


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(_size(entry) for entry in value.values())
    if isinstance(value, list):
        return 1 + sum(_size(entry) for entry in value)
    return 1 + len(value) // 100 if isinstance(value, str) else 1


def _shaped(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value as rules see it: names of fields that are no words escaped, numbers of type number as such."""
    if isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        shaped = {}
        for name, entry in value.items():
            inner = properties.get(name)
            if isinstance(inner, dict):
                shaped[_escaped(name)] = _shaped(entry, inner)
            else:
                shaped[name] = _shaped(entry, mapping(schema.get("additionalProperties")))
        return shaped
    if isinstance(value, list):
        return [_shaped(entry, mapping(schema.get("items"))) for entry in value]
    if schema.get("type") == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _escaped(name: str) -> str:
    if name in _RESERVED:
        return f"__{name}__"
    for text, escape in _ESCAPES:
        name = name.replace(text, escape)
    return name
