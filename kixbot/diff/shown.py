"""How a field of FieldsV1 is written for people: `$.spec.template.spec.containers[web].image`. Pure."""

from kixbot.diff.baseline import key_text
from kixbot.diff.fields import Index, Key, Member, Name, Path
from kixbot.model.path import ROOT, index, item, member


def shown_path(path: Path) -> str:
    """The path from the root, as a plan writes it; list items go by the values of their keys."""
    text = ROOT
    for element in path:
        match element:
            case Name(name):
                text = member(text, name)
            case Key() | Member():
                text = item(text, key_text(element))
            case Index(at):
                text = index(text, at)
    return text
