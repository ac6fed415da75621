"""The real API server as the judge: kix refuses what it refuses and takes what it takes.

Every object is sent as a server-side apply in a strict dry run. The corpus are the hand-written valid objects, custom
resources of a CRD that uses all that CRDs can say, and mutants of the valid objects, each with one change.
"""

import hashlib
import json
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from kixbot.checks.schema.node import Fault
from tests.checks.schema.custom import DEFINITION, GROUP, INVALID, VALID, faults_of, pool
from tests.checks.schema.disagreements import DISAGREEMENTS
from tests.checks.schema.objects import Body, faults, mutants, title, valid
from tests.parts.kube_api import ApiError, KubeApi, condition

PAGE = Path(__file__).parents[3] / "docs/decisions/0002-where-kix-and-the-api-server-disagree.md"
SHARE = 15
"""One mutant in so many is tried by `make test`, all of them by `make soak`."""


class Oracle:
    """An API server with a namespace of the test's own."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self._kinds = cache(self._find_kinds)

    def refusal(self, body: Body) -> str | None:
        """Why it refuses an object, None where it takes it."""
        body = json.loads(json.dumps(body).replace('"shop"', f'"{self._namespace}"'))
        root = f"/api{'' if '/' not in body['apiVersion'] else 's'}/{body['apiVersion']}"
        plural, namespaced = self._kinds(root)[body["kind"]]
        name = urllib.parse.quote(str(body["metadata"]["name"]), safe="")
        path = f"{root}/namespaces/{self._namespace}/{plural}/{name}" if namespaced else f"{root}/{plural}/{name}"
        query = "?fieldManager=kix&force=true&dryRun=All&fieldValidation=Strict"
        try:
            self._api.call("PATCH", path + query, body, "application/apply-patch+yaml")
        except ApiError as error:
            return str(error)
        return None

    def _find_kinds(self, root: str) -> dict[str, tuple[str, bool]]:
        resources = self._api.get(root)["resources"]
        return {one["kind"]: (one["name"], one["namespaced"]) for one in resources if "/" not in one["name"]}


@pytest.fixture
def oracle(kube_api: KubeApi, kube_namespace: str) -> Oracle:
    return Oracle(kube_api, kube_namespace)


def disagreements(
    oracle: Oracle, corpus: Iterator[tuple[str, Body]], judge: Callable[[Body], Iterable[Fault]] = faults
) -> tuple[list[str], list[int]]:
    """Titles that nothing explains, and how many objects both took and both refused."""
    unexplained, agreed = [], [0, 0]
    listed = list(corpus)
    with ThreadPoolExecutor(max_workers=4) as workers:
        answers = list(workers.map(lambda item: oracle.refusal(item[1]), listed))
    for (name, body), refused in zip(listed, answers, strict=True):
        found = list(judge(body))
        if bool(refused) == bool(found):
            agreed[bool(refused)] += 1
            continue
        who = "kix" if found else "the API server"
        if not any(one.refused_by == who and one.titles.search(name) for one in DISAGREEMENTS):
            unexplained.append(f"{name}: {who} alone refuses it: {found or refused}")
    return unexplained, agreed


def corpus(share: int, bodies: Iterable[Body]) -> Iterator[tuple[str, Body]]:
    """Mutants of valid objects, one in `share`, always the same ones."""
    for body in bodies:
        for word, mutant in mutants(body):
            name = f"{title(body)} {word}"
            if int(hashlib.sha256(name.encode()).hexdigest(), 16) % share == 0:
                yield name, mutant


def test_both_take_every_valid_object(oracle: Oracle) -> None:
    assert len(valid()) >= 66
    refusals = {title(body): oracle.refusal(body) for body in valid()}
    assert {name: why for name, why in refusals.items() if why} == {}


def test_both_judge_mutants_alike_or_it_is_explained(oracle: Oracle) -> None:
    unexplained, (taken, refused) = disagreements(oracle, corpus(SHARE, valid()))
    assert unexplained == []
    assert taken >= 300
    assert refused >= 300


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_both_judge_all_mutants_alike_or_it_is_explained(oracle: Oracle) -> None:
    unexplained, (taken, refused) = disagreements(oracle, corpus(1, valid()))
    assert unexplained == []
    assert taken >= 7000
    assert refused >= 15000


@pytest.fixture
def pools(kube_api: KubeApi, oracle: Oracle) -> Oracle:
    """The oracle, with the CRD of pools established."""
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{DEFINITION['metadata']['name']}"
    kube_api.apply(path, DEFINITION)
    kube_api.wait_for(path, lambda body: condition(body, "Established") == "True")
    kube_api.wait_for(f"/apis/{GROUP}/v1", lambda body: bool(body.get("resources")))
    return oracle


def test_both_judge_custom_resources_alike(pools: Oracle) -> None:
    both = {spec: (pools.refusal(pool(spec)) is None, not list(faults_of(pool(spec)))) for spec in (*VALID, *INVALID)}
    assert both == {**dict.fromkeys(VALID, (True, True)), **dict.fromkeys(INVALID, (False, False))}


def test_both_judge_mutants_of_custom_resources_alike(pools: Oracle) -> None:
    unexplained, (taken, refused) = disagreements(pools, corpus(4, map(pool, VALID)), faults_of)
    assert unexplained == []
    assert taken >= 100
    assert refused >= 100


@pytest.mark.soak
def test_both_judge_all_mutants_of_custom_resources_alike(pools: Oracle) -> None:
    unexplained, (taken, refused) = disagreements(pools, corpus(1, map(pool, VALID)), faults_of)
    assert unexplained == []
    assert taken >= 500
    assert refused >= 500


def test_every_disagreement_is_on_the_page() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [one.why for one in DISAGREEMENTS if one.why not in page] == []
    assert len({one.why for one in DISAGREEMENTS}) == len(DISAGREEMENTS)
