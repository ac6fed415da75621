"""Receipts as documents: what Activation status, files and `kix status -o json` hold. One decoder a schema number."""

from collections.abc import Mapping
from typing import Any

from kixbot.errors import ClusterError
from kixbot.model.receipt import RECEIPT_SCHEMA, Image, Receipt


def encode(receipt: Receipt) -> dict[str, Any]:
    """The document, keys in the order of `docs/schemas/receipt.json`; empty fields are left out."""
    document: dict[str, Any] = {
        "schema": RECEIPT_SCHEMA,
        "id": receipt.id,
        "cluster": receipt.cluster,
        "activation": receipt.activation,
        "activationPath": receipt.activation_path,
        "time": receipt.time,
        "actor": receipt.actor,
        "runUrl": receipt.run_url,
        "commit": receipt.commit,
        "branch": receipt.branch,
        "clean": receipt.clean,
        "remote": receipt.remote,
        "tools": dict(receipt.tools),
        "arch": receipt.arch,
        "os": receipt.os,
        "flakeInputs": [dict(one) for one in receipt.flake_inputs],
        "images": [_image(image) for image in receipt.images],
        "pins": dict(receipt.pins),
        "counts": dict(receipt.counts),
        "reviewedHash": receipt.reviewed_hash,
        "deployedHash": receipt.deployed_hash,
        "forced": list(receipt.forced),
        "adopted": list(receipt.adopted),
        "emergency": receipt.emergency,
        "partial": receipt.partial,
        "warnings": list(receipt.warnings),
    }
    return {key: value for key, value in document.items() if value is not None and value not in ([], {})}


def _image(image: Image) -> dict[str, str]:
    return {"reference": image.reference} | ({"digest": image.digest} if image.digest else {})


def decode(document: Mapping[str, Any]) -> Receipt:
    """The receipt of a document. Raises ClusterError on a schema this version does not know, or a damaged one."""
    if document.get("schema") != RECEIPT_SCHEMA:
        raise ClusterError(
            f"receipt {document.get('id', '')}: schema {document.get('schema')} is not known here", hint="update kix"
        )
    try:
        return _decode(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise ClusterError(f"receipt {document.get('id', '')}: damaged") from error


def _decode(document: Mapping[str, Any]) -> Receipt:
    return Receipt(
        id=document["id"],
        cluster=document["cluster"],
        activation=document["activation"],
        activation_path=document["activationPath"],
        time=document["time"],
        actor=document.get("actor"),
        run_url=document.get("runUrl"),
        commit=document.get("commit"),
        branch=document.get("branch"),
        clean=document.get("clean"),
        remote=document.get("remote"),
        tools=document.get("tools") or {},
        arch=document.get("arch") or "",
        os=document.get("os") or "",
        flake_inputs=tuple(document.get("flakeInputs") or ()),
        images=tuple(
            Image(reference=one["reference"], digest=one.get("digest")) for one in document.get("images") or ()
        ),
        pins=document.get("pins") or {},
        counts=document.get("counts") or {},
        reviewed_hash=document.get("reviewedHash"),
        deployed_hash=document.get("deployedHash"),
        forced=tuple(document.get("forced") or ()),
        adopted=tuple(document.get("adopted") or ()),
        emergency=document.get("emergency"),
        partial=bool(document.get("partial")),
        warnings=tuple(document.get("warnings") or ()),
    )
