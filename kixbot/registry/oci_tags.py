"""Paging through a list of tags: links of every form, loops, cut lists.

Rules: the distribution specification's "listing tags"; the deviations are those of Quay, Artifactory and Nexus.
"""

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from kixbot.model.pinfile import TAG
from kixbot.registry.interface import RegistryAnswerError, TagList
from kixbot.registry.oci_transport import Answer
from kixbot.registry.reference import Location
from kixbot.registry.urls import join

PAGE = 1000  # the most Amazon's registry takes; Docker Hub has images with 9,000 tags
MAX_PAGES = 300
_ATTACHED = re.compile(r"sha256-[0-9a-f]{64}(?:\..*)?")  # signatures and attestations by cosign's tag scheme
_LINK = re.compile(r'<([^<>]*)>\s*((?:;\s*[\w-]+\s*=\s*(?:"[^"]*"|[^\s,;]*)\s*)*)')
_NEXT = re.compile(r'\brel\s*=\s*"?next"?', re.IGNORECASE)


def read_tags(
    fetch: Callable[[str], Answer],
    location: Location,
    image: str,
    *,
    refusal: Callable[[Answer, Location, str], Exception],
) -> TagList:
    """All tags, over all pages. Raises RegistryAnswerError for pages that go in a circle, else `refusal`."""
    first = f"{location.base}/tags/list"
    url, asked = f"{first}?n={PAGE}", PAGE
    answer = fetch(url)
    if answer.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED):
        # Quay takes at most 100: without a number every registry pages as it likes.
        url, asked = first, 0
        answer = fetch(url)
    tags: set[str] = set()
    seen = {url}
    for _ in range(MAX_PAGES):
        if answer.status != HTTPStatus.OK:
            raise refusal(answer, location, image)
        page = _decode(answer, image)
        tags.update(tag for tag in page if TAG.fullmatch(tag) and not _ATTACHED.fullmatch(tag))
        following = find_next(answer, location)
        if following is None:
            # Nexus cuts the list without a word: exactly as many as asked for is how that looks.
            return TagList(tags=tuple(sorted(tags)), is_complete=len(page) != asked)
        if following in seen:
            raise RegistryAnswerError(f"{image}: the registry's list of tags goes in a circle")
        seen.add(following)
        answer = fetch(following)
    return TagList(tags=tuple(sorted(tags)), is_complete=False)


def find_next(answer: Answer, location: Location) -> str | None:
    """The address of the next page, or None.

    On the same host only the query of a link is used: Artifactory leaves its repository out of the path and repeats
    `last`.
    """
    for header in answer.headers.get("link", ()):
        for target, parameters in _LINK.findall(header):
            if not _NEXT.search(parameters):
                continue
            url = join(answer.url, target)
            parts = urlsplit(url)
            if parts.netloc != location.api_host:
                return url
            query = urlencode(dict(parse_qsl(parts.query, keep_blank_values=True)))
            return f"{location.base}/tags/list?{query}"
    return None


def _decode(answer: Answer, image: str) -> list[str]:
    try:
        document: Any = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise RegistryAnswerError(f"{image}: the registry's list of tags is not JSON") from error
    tags = document.get("tags") if isinstance(document, dict) else document
    if tags is None:
        return []  # a repository without tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise RegistryAnswerError(f"{image}: the registry's list of tags is none")
    return tags
