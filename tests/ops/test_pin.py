"""What moves, what stays, what is told apart."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from kixbot.errors import KixError, RefusedError, UsageError
from kixbot.model.pin import Pin, PinChange, Pins
from kixbot.ops.pin import (
    CheckResult,
    PinCheck,
    add_pin,
    apply_changes,
    check_pins,
    remove_pin,
    resolve_updates,
    set_tag,
)
from kixbot.registry.interface import ImageNotFoundError, Registry, RegistryUnreachableError
from kixbot.registry.memory import ImageRecipe, ImageStore, MemoryRegistry, make_image
from tests.registry.odd import bench, fault, on

ABSENT = "sha256:" + "0" * 64
OLD = ImageRecipe(labels={"org.opencontainers.image.revision": "aaaaaaa"})
NEW = ImageRecipe(
    created="2026-09-09T10:47:00Z",
    labels={"org.opencontainers.image.revision": "bbbbbbb"},
    user="101",
    platforms=("linux/amd64", "linux/arm64/v8"),
)


def update_pins(pins: Pins, registry: Registry, keys: tuple[str, ...] = ()) -> tuple[PinChange, ...]:
    """The changes where every pin could be looked up, else the first failure."""
    found = resolve_updates(pins, registry, keys)
    for failure in found.failures:
        raise failure.error
    return found.changes


def world(*images: tuple[str, str, ImageRecipe]) -> tuple[ImageStore, MemoryRegistry]:
    store = ImageStore()
    for path, tag, recipe in images:
        store.put(path, tag, make_image(recipe))
    return store, MemoryRegistry(store)


def pin(key: str = "web", tag: str = "1.4.2", recipe: ImageRecipe = OLD, **fields: object) -> Pin:
    made = Pin(key=key, image=f"ghcr.io/acme/{key}", tag=tag, digest=make_image(recipe).top)
    return dataclasses.replace(made, **fields)  # type: ignore[arg-type]  # fields of the test's choice


def pins(*entries: Pin) -> Pins:
    return Pins(pins={entry.key: entry for entry in entries}, extra={"team": "shop"})


def test_a_newer_tag_comes_with_its_evidence() -> None:
    _, registry = world(("acme/web", "1.4.2", OLD), ("acme/web", "1.5.0", NEW), ("acme/web", "2.0.0", OLD))
    old = pin(update="^1.4", extra={"note": "kept"})
    new = dataclasses.replace(old, tag="1.5.0", digest=make_image(NEW).top, user=101)
    assert update_pins(pins(old), registry) == (
        PinChange(
            key="web",
            old=old,
            new=new,
            created="2026-09-09T10:47:00Z",
            platforms=("linux/amd64", "linux/arm64"),
            revision="bbbbbbb",
        ),
    )


def test_a_tag_that_moved_gives_its_new_digest() -> None:
    _, registry = world(("acme/web", "1.4.2", NEW))
    (change,) = update_pins(pins(pin(update="tag")), registry)
    assert (change.new.tag, change.new.digest) == ("1.4.2", make_image(NEW).top)


def test_a_range_follows_its_own_tag_where_none_is_newer() -> None:
    _, registry = world(("acme/web", "1.4.2", NEW), ("acme/web", "2.0.0", NEW))
    (change,) = update_pins(pins(pin(update="^1.4")), registry)
    assert (change.new.tag, change.new.digest) == ("1.4.2", make_image(NEW).top)


@pytest.mark.parametrize(
    "entry",
    [
        pin(update="tag"),
        pin(update="^1.4"),
        pin(tag="1.4.1", update="^1.4"),  # a newer tag of the very same image
        pin(recipe=NEW, update=None),  # moved, without a rule
        pin(recipe=NEW, update="tag", frozen=True),
    ],
    ids=["same", "no newer tag", "same digest", "no rule", "frozen"],
)
def test_a_pin_without_anything_newer_or_without_a_rule_stays(entry: Pin) -> None:
    _, registry = world(("acme/web", "1.4.1", OLD), ("acme/web", "1.4.2", OLD))
    assert update_pins(pins(entry), registry) == ()


def test_a_named_pin_without_a_rule_is_looked_up_by_its_tag() -> None:
    _, registry = world(("acme/web", "1.4.2", NEW), ("acme/db", "1.4.2", NEW))
    changes = update_pins(pins(pin("db"), pin("web")), registry, ("web",))
    assert [change.key for change in changes] == ["web"]


def test_a_named_frozen_pin_is_refused() -> None:
    with pytest.raises(RefusedError, match='pin "web": is frozen'):
        update_pins(pins(pin(frozen=True)), world()[1], ("web",))


def test_a_name_that_is_no_pin_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        update_pins(pins(pin("db"), pin("web")), world()[1], ("wbe",))
    assert (caught.value.message, caught.value.hint) == ('pin "wbe": there is none of that key', "keys: db, web")


def test_one_failure_does_not_hide_the_others_and_stops_the_strict_form() -> None:
    _, registry = world(*((f"acme/p{number:02}", "1.0", NEW) for number in range(50) if number != 7))
    everything = pins(*(pin(f"p{number:02}", "1.0", update="tag") for number in range(50)))
    found = resolve_updates(everything, registry)
    assert (len(found.changes), found.unchanged) == (49, 0)
    assert [(failure.key, type(failure.error)) for failure in found.failures] == [("p07", ImageNotFoundError)]
    with pytest.raises(ImageNotFoundError, match=r"acme/p07:1\.0: not found"):
        update_pins(everything, registry)


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ("latest", 'pin "web": latest is no update rule'),
        ("^1", 'pin "web": tag "edge" is not a version, which a range needs'),
    ],
)
def test_a_rule_that_cannot_be_used_is_a_failure_and_not_no_update(update: str, message: str) -> None:
    _, registry = world(("acme/web", "edge", OLD))
    with pytest.raises(UsageError) as caught:
        update_pins(pins(pin(tag="edge", update=update)), registry)
    assert caught.value.message.startswith(message)


def test_progress_says_what_moves() -> None:
    _, registry = world(("acme/web", "1.4.2", OLD), ("acme/web", "1.5.0", NEW), ("acme/db", "1.4.2", OLD))
    lines: list[str] = []
    resolve_updates(pins(pin(update="^1"), pin("db", update="^1")), registry, progress=lines.append)
    assert lines == [f"web: ghcr.io/acme/web:1.4.2 moves to 1.5.0@{make_image(NEW).top[:19]}"]


def test_changes_are_put_in_and_the_rest_is_kept() -> None:
    old, other = pin(), pin("db")
    new = dataclasses.replace(old, tag="1.5.0")
    changed = apply_changes(pins(other, old), (PinChange(key="web", old=old, new=new),))
    assert changed == Pins(pins={"db": other, "web": new}, extra={"team": "shop"})


@pytest.mark.parametrize("now", [pins(), pins(pin(tag="1.4.3"))], ids=["removed", "written"])
def test_a_pin_that_somebody_else_changed_is_not_written_over(now: Pins) -> None:
    old = pin()
    with pytest.raises(RefusedError, match='pin "web" was changed while its image was looked up'):
        apply_changes(now, (PinChange(key="web", old=old, new=dataclasses.replace(old, tag="1.5.0")),))


def test_set_takes_any_tag_of_the_pins_own_image() -> None:
    _, registry = world(("acme/web", "1.4.2", OLD), ("acme/web", "edge", NEW))
    change = set_tag(pins(pin()), registry, "web", "edge")
    assert change is not None
    assert (change.new.tag, change.new.digest, change.new.user) == ("edge", make_image(NEW).top, 101)
    assert set_tag(pins(pin()), registry, "web", "1.4.2") is None


@pytest.mark.parametrize(
    ("key", "tag", "kind"),
    [("db", "1.0", UsageError), ("web", "a b", UsageError), ("web", "9.9", ImageNotFoundError)],
)
def test_set_refuses_what_is_not_there(key: str, tag: str, kind: type[KixError]) -> None:
    _, registry = world(("acme/web", "1.4.2", OLD))
    with pytest.raises(kind):
        set_tag(pins(pin()), registry, key, tag)


@pytest.mark.parametrize(
    ("recipe", "user"),
    [(ImageRecipe(), 0), (ImageRecipe(user="101"), 101), (ImageRecipe(user="101:0"), "101:0"), (ImageRecipe(user="web"), "web")],
)  # fmt: skip
def test_add_pins_what_the_tag_names_and_the_user_it_runs_as(recipe: ImageRecipe, user: str | int) -> None:
    _, registry = world(("acme/web", "1.0", recipe))
    added = add_pin(Pins(), registry, "ghcr.io/acme/web:1.0", update="^1")
    expected = Pin(
        key="web", image="ghcr.io/acme/web", tag="1.0", digest=make_image(recipe).top, user=user, update="^1"
    )
    assert added == expected
    assert added.reference == f"ghcr.io/acme/web:1.0@{make_image(recipe).top}"


def test_add_keeps_the_written_name_and_takes_latest_where_there_is_no_tag() -> None:
    _, registry = world(("library/nginx", "latest", OLD))
    added = add_pin(Pins(), registry, "nginx", key="proxy")
    assert (added.key, added.image, added.tag) == ("proxy", "nginx", "latest")


@pytest.mark.parametrize(
    ("image", "key", "update", "message"),
    [
        ("ghcr.io/acme/web:1.4.2", None, None, 'pin "web": is there already'),
        ("ghcr.io/acme/web:1.4.2", "a b", None, 'pin "a b": a key holds'),
        ("ghcr.io/acme/web:1.4.2", "new", "later", "update rule: later is no update rule"),
        ("ghcr.io/acme/web:1.4.2", "new", "17.*", 'update rule: tag "1.4.2" does not match its own pattern'),
        ("ghcr.io/acme/Web", "new", None, 'image "ghcr.io/acme/Web": not a name a registry takes'),
        (f"ghcr.io/acme/web:1.4.2@{ABSENT}", "new", None, f"ghcr.io/acme/web:1.4.2@{ABSENT}: the tag names sha256:"),
    ],
)
def test_add_refuses_what_it_cannot_pin(image: str, key: str | None, update: str | None, message: str) -> None:
    _, registry = world(("acme/web", "1.4.2", OLD))
    with pytest.raises(KixError) as caught:
        add_pin(pins(pin()), registry, image, key=key, update=update)
    assert caught.value.message.startswith(message)


def test_remove_takes_one_pin_out() -> None:
    assert remove_pin(pins(pin(), pin("db")), "web") == pins(pin("db"))
    with pytest.raises(UsageError):
        remove_pin(pins(), "web")


def gone(store: ImageStore) -> None:
    store.delete("acme/web", make_image(OLD).top)


def moved(store: ImageStore) -> None:
    store.put("acme/web", "1.4.2", make_image(NEW))


def untagged(store: ImageStore) -> None:
    store.untag("acme/web", "1.4.2")


def moved_and_gone(store: ImageStore) -> None:
    moved(store)
    gone(store)


@pytest.mark.parametrize(
    ("happens", "result", "current", "details"),
    [
        (lambda _: None, CheckResult.OK, None, ""),
        (moved, CheckResult.MOVED, make_image(NEW).top, f"the tag names {make_image(NEW).top} now"),
        (untagged, CheckResult.TAG_GONE, None, "the digest can still be pulled"),
        (gone, CheckResult.DIGEST_GONE, None, "the tag is gone, too"),
        (moved_and_gone, CheckResult.DIGEST_GONE, make_image(NEW).top, f"the tag names {make_image(NEW).top} now"),
    ],
)
def test_check_tells_apart_what_happened_to_an_image(
    happens: Callable[[ImageStore], None], result: CheckResult, current: str | None, details: str
) -> None:
    store, registry = world(("acme/web", "1.4.2", OLD))
    happens(store)
    expected = PinCheck(key="web", pin=pin(), result=result, current=current, details=details)
    assert check_pins(pins(pin()), registry) == (expected,)


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (401, CheckResult.DENIED),
        (403, CheckResult.DENIED),
        (429, CheckResult.LIMITED),
        (503, CheckResult.OFFLINE),
        (418, CheckResult.UNCLEAR),
        (404, CheckResult.DIGEST_GONE),
    ],
)
def test_check_tells_apart_how_a_registry_says_no(tmp_path: Path, status: int, result: CheckResult) -> None:
    with bench(tmp_path, on("", fault(status, Retry_After="3600"))) as b:
        entry = dataclasses.replace(pin(), image=b.image)
        (check,) = check_pins(pins(entry), b.registry)
        assert check.result is result


def test_a_registry_that_is_down_fails_an_update_and_never_says_no_update(tmp_path: Path) -> None:
    with bench(tmp_path, on("", fault(503))) as b:
        entry = dataclasses.replace(pin(update="tag"), image=b.image)
        registry: Registry = b.registry
        with pytest.raises(RegistryUnreachableError):
            update_pins(pins(entry), registry)
