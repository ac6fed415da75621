"""The distribution API's client: what a tag names, which tags there are, what an image says of itself.

Rules: the OCI distribution specification 1.1. Registries differ: each deviation met stands beside its line.
"""

from collections.abc import Callable
from http import HTTPStatus

from kixbot.model.pinfile import DIGEST
from kixbot.registry import media, reference
from kixbot.registry.interface import (
    ImageFacts,
    ImageNotFoundError,
    RegistryAnswerError,
    TagList,
)
from kixbot.registry.oci_session import Session
from kixbot.registry.oci_tags import read_tags
from kixbot.registry.oci_transport import Answer
from kixbot.registry.reference import Location
from kixbot.settings.model import RegistrySettings

# A HEAD that fails so may work as a GET: not every registry has HEAD, or lets a token for pulling use it.
# Never 429 or a fault: a GET counts as a pull and makes those worse.
_NO_HEAD = frozenset({400, 401, 404, 405, 501})


class OciRegistry:
    """A Registry over the distribution API; safe from several threads."""

    def __init__(self, session: Session, rules: RegistrySettings, *, note: Callable[[str], None]) -> None:
        self._session = session
        self._rules = rules
        self._note = note

    def get_digest(self, image: str, tag: str) -> str:
        """What the tag names now. Raises ImageNotFoundError where the tag or the image is gone."""
        location, place = self._locate(image), f"{image}:{tag}"
        url = f"{location.base}/manifests/{tag}"
        answer = self._session.send("HEAD", url, location, accept=media.ACCEPT)
        if answer.status == HTTPStatus.OK:
            media.refuse_schema_1(answer.header("content-type"), place)
            digest = answer.header("docker-content-digest")
            if DIGEST.fullmatch(digest):
                return digest
        elif answer.status not in _NO_HEAD:
            raise self._refusal(answer, location, place)
        body = self._manifest(location, tag, place)
        return media.digest_of(body.body)

    def has_digest(self, image: str, digest: str) -> bool:
        """Can this digest still be pulled?"""
        location, place = self._locate(image), f"{image}@{digest}"
        url = f"{location.base}/manifests/{digest}"
        answer = self._session.send("HEAD", url, location, accept=media.ACCEPT)
        if answer.status == HTTPStatus.OK:
            said = answer.header("docker-content-digest")
            if said and said != digest:
                raise RegistryAnswerError(f"{place}: the registry answers with another digest")
            return True
        if answer.status not in _NO_HEAD:
            raise self._refusal(answer, location, place)
        try:
            self._manifest(location, digest, place)
        except ImageNotFoundError:
            return False
        return True

    def get_tags(self, image: str) -> TagList:
        """All tags of an image; a list that had to be cut says so, and is noted."""
        location = self._locate(image)

        def fetch(url: str) -> Answer:
            return self._session.send("GET", url, location)

        found = read_tags(fetch, location, image, refusal=self._refusal)
        if not found.is_complete:
            self._note(f"{image}: its list of tags may be cut; newer tags may be missing")
        return found

    def get_facts(self, image: str, digest: str) -> ImageFacts:
        """What the image of that digest says of itself. Raises ImageNotFoundError."""
        location, place = self._locate(image), f"{image}@{digest}"
        first = self._decoded(location, digest, place)
        if isinstance(first, media.Manifest):
            return self._facts(location, digest, place, index=None, manifest=first)
        chosen = first.find_preferred()
        if chosen is None:
            return media.facts_of(digest, index=first, manifest=None, config=None)
        inner = self._decoded(location, chosen.digest, place)
        if not isinstance(inner, media.Manifest):
            raise RegistryAnswerError(f"{place}: an index inside an index")
        return self._facts(location, digest, place, index=first, manifest=inner)

    def _facts(
        self, location: Location, digest: str, place: str, *, index: media.Index | None, manifest: media.Manifest
    ) -> ImageFacts:
        config = None
        if manifest.config is not None:
            answer = self._session.send("GET", f"{location.base}/blobs/{manifest.config}", location)
            if answer.status != HTTPStatus.OK:
                raise self._refusal(answer, location, place)
            media.verify(answer.body, manifest.config, place)
            config = media.decode_config(answer.body, place)
        return media.facts_of(digest, index=index, manifest=manifest, config=config)

    def _decoded(self, location: Location, digest: str, place: str) -> media.Index | media.Manifest:
        answer = self._manifest(location, digest, place)
        return media.decode_manifest(answer.body, answer.header("content-type"), place)

    def _manifest(self, location: Location, name: str, place: str) -> Answer:
        """The manifest of a tag or digest, its bytes verified."""
        answer = self._session.send("GET", f"{location.base}/manifests/{name}", location, accept=media.ACCEPT)
        if answer.status != HTTPStatus.OK:
            raise self._refusal(answer, location, place)
        media.refuse_schema_1(answer.header("content-type"), place)
        if DIGEST.fullmatch(name):
            media.verify(answer.body, name, place)
            return answer
        said = answer.header("docker-content-digest")
        if said and DIGEST.fullmatch(said):
            # A registry that converts a list for an old client can announce one digest and send another body.
            media.verify(answer.body, said, place)
        return answer

    def _locate(self, image: str) -> Location:
        return reference.locate(reference.parse(image), self._rules)

    def _refusal(self, answer: Answer, location: Location, place: str) -> Exception:
        if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return self._session.denied(location, place, answer)
        if answer.status == HTTPStatus.NOT_FOUND:
            cause = f" ({answer.code})" if answer.code else ""
            return ImageNotFoundError(f"{place}: not found{cause}", hint="check the name and the tag")
        return RegistryAnswerError(f"{place}: the registry answers {answer.status}")
