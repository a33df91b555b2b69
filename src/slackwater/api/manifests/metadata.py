"""Names, labels and what else every object carries above its spec."""

import re
from datetime import datetime

from msgspec import Struct

from slackwater.api.manifests.fields import Fields
from slackwater.api.objects import Owner
from slackwater.api.units import Seconds, Wall

FIELDS = (
    "name", "generateName", "namespace", "uid", "labels", "annotations", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers",
    "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink",
)  # fmt: skip

# Names and uids become parts of paths (groups, logs, notes), so nothing but these characters may pass.
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_UID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9]{0,63}")


class Metadata(Struct, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner: Owner | None = None
    deleted_at: Wall | None = None
    deletion_grace: Seconds | None = None


def read(top: Fields) -> Metadata:
    fields = top.inside("metadata")
    if fields is None:
        if not top.has("metadata"):
            top.error("metadata", "is missing", "write metadata: with a name: below it")
        return Metadata()
    return Metadata(
        name=name(fields, "name"),
        namespace=_namespace(fields),
        uid=_uid(fields),
        labels=fields.named_texts("labels"),
        annotations=fields.named_texts("annotations"),
        owner=_controller(fields),
        deleted_at=moment(fields, "deletionTimestamp"),
        deletion_grace=_grace(fields),
    )


def name(fields: Fields, key: str) -> str:
    written = fields.required(key, "every object has a name")
    if written and not _NAME.fullmatch(written):
        fields.error(
            key,
            "is not a name",
            "use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
            written,
        )
        return ""
    return written


def moment(fields: Fields, key: str) -> Wall | None:
    written = fields.text(key)
    if not written:
        return None
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        fields.error(key, "is not a time", "write it as 2024-05-01T12:00:00Z", written)
        return None
    return Wall(at.timestamp())


def _namespace(fields: Fields) -> str:
    return name(fields, "namespace") if fields.has("namespace") else ""


def _uid(fields: Fields) -> str:
    written = fields.text("uid")
    if written and not _UID.fullmatch(written):
        fields.error("uid", "is not a uid", "leave it out; one is made from namespace and name", written)
        return ""
    return written


def _grace(fields: Fields) -> Seconds | None:
    return Seconds(fields.whole("deletionGracePeriodSeconds", 0)) if fields.has("deletionGracePeriodSeconds") else None


def _controller(fields: Fields) -> Owner | None:
    for reference in fields.each("ownerReferences"):
        if reference.flag("controller"):
            return Owner(reference.text("kind"), reference.text("name"))
    return None
