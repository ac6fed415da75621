"""What a definition imports must be there before anything is written."""

from dataclasses import replace
from typing import Any

import pytest

from kixbot.errors import RefusedError
from kixbot.model.build import Build, External
from tests.ops.deploys import Deploys, shop


def importing(*externals: External) -> Build:
    build = shop()
    return replace(build, evaluated=replace(build.evaluated, externals=externals))


def secret(**more: Any) -> External:
    return External(kind="Secret", name="tls", namespace="default", verify=True, **more)


def test_an_import_that_is_not_there_refuses_before_any_write() -> None:
    deploys = Deploys()
    with pytest.raises(RefusedError, match="import Secret default/tls: not there") as caught:
        deploys.run(importing(secret()))
    assert caught.value.hint == "create it, or declare it with kix.untrackedRef if it comes later"
    assert deploys.cluster.requests["apply"] == 0


def test_an_import_must_have_the_keys_it_is_imported_with() -> None:
    deploys = Deploys()
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "tls", "namespace": "default"},
        "data": {"a": "eA=="},
    }
    deploys.cluster.create(deploys.kind("v1", "Secret"), body, manager="test")
    with pytest.raises(RefusedError, match="import Secret default/tls: has no key b"):
        deploys.run(importing(secret(keys=("a", "b"))))
    deploys.run(importing(secret(keys=("a",))))


def test_an_import_of_a_kind_nobody_serves_says_so() -> None:
    widget = External(kind="Widget", name="w", namespace="default", verify=True)
    with pytest.raises(RefusedError, match="import Widget default/w: the cluster does not serve Widget"):
        Deploys().run(importing(widget))


def test_what_is_only_declared_external_is_not_asked_for() -> None:
    Deploys().run(importing(replace(secret(), verify=False)))
