"""jinja2 lives here: templates/*.md.j2 → Markdown. Loaded only where a forge's text is made.

A template prints untrusted values safely by default: whatever is no `Text` of ours and no number is shown as code.
Templates come from the package alone, never from a checkout.
"""

from functools import lru_cache
from importlib.resources import files

import jinja2

from kixbot.output.markup import Text, code, count, html_code, version


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(files("kixbot") / "templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
        autoescape=False,  # noqa: S701  the output is Markdown; `finalize` is what keeps values harmless
    )
    environment.filters.update(html_code=html_code, version=version, text=Text)
    environment.globals["count"] = lambda *arguments: Text(count(*arguments))
    return environment


def _finalize(value: object) -> object:
    return value if isinstance(value, Text | int | jinja2.Undefined) else code(str(value))


def render(template: str, **values: object) -> str:
    """The text of `templates/<template>.md.j2` with these values. A value the template needs must be there."""
    return _environment().get_template(f"{template}.md.j2").render(values)
