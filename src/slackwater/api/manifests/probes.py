"""Where a policy's metrics come from: the node itself, Prometheus, an HTTP check. Only what is read on the node is served; the rest is checked and reported as not served yet."""

import re

from slackwater.api.manifests.fields import Fields
from slackwater.api.units import Seconds

_CACHE_TTL = 60  # of a nodeLocalGet that does not say
_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_VARIABLE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def read(spec: Fields, key: str) -> tuple[Seconds | None, tuple[str, ...]]:
    """How long a local value lasts, if said, and the fields that nothing acts on yet."""
    probe = spec.inside(key)
    if probe is None:
        return None, ()
    probe.known(("timeoutSeconds", "nodeLocalGet", "httpGet", "prometheus"))
    probe.whole("timeoutSeconds", 0)
    not_served = [name for name, check in (("prometheus", _prometheus), ("httpGet", _http_get)) if check(probe)]
    for name in not_served:
        probe.not_served(name, "a probe of this kind")
    return _cache_ttl(probe), tuple(f"spec.{key}.{name}" for name in not_served)


def _cache_ttl(probe: Fields) -> Seconds | None:
    local = probe.inside("nodeLocalGet")
    if local is None:
        return None
    local.known(("localCacheTTLSeconds",))
    return Seconds(local.whole("localCacheTTLSeconds", _CACHE_TTL))


def _prometheus(probe: Fields) -> bool:
    fields = probe.inside("prometheus")
    if fields is None:
        return False
    fields.known(("targets", "queryInterval", "metrics", "variables"))
    if not fields.texts("targets"):
        fields.error("targets", "is empty", "write where Prometheus answers, as host:port")
    fields.duration("queryInterval")
    if not fields.entries("metrics"):
        fields.error("metrics", "is empty", "write at least one metric, with a name and a query")
    for metric in fields.each("metrics"):
        _query(metric)
    for variable in fields.each("variables"):
        _variable(variable)
    return True


def _query(fields: Fields) -> None:
    fields.known(("name", "query"))
    name = fields.required("name", "name the metric that the query gives")
    if name and not _METRIC_NAME.fullmatch(name):
        fields.error("name", "is no name of a metric", "use letters, digits and '_', beginning with a letter", name)
    fields.required("query", "write the query in PromQL")


def _variable(fields: Fields) -> None:
    fields.known(("name", "value", "valueFrom"))
    name = fields.required("name", "name the variable")
    if name and not _VARIABLE.fullmatch(name):
        fields.error("name", "is no name of a variable", "use letters, digits and '_', beginning with a letter", name)
    source = fields.inside("valueFrom")
    reference = source.inside("fieldRef") if source is not None else None
    if reference is not None:
        reference.required("fieldPath", "write the path of the field, for instance spec.nodeName")
    elif not fields.has("value"):
        fields.error("valueFrom", "says no field", "write valueFrom: {fieldRef: {fieldPath: spec.nodeName}}")


def _http_get(probe: Fields) -> bool:
    fields = probe.inside("httpGet")
    if fields is None:
        return False
    fields.known(("host", "port", "path", "scheme", "httpHeaders"))
    fields.text("path")
    fields.choice("scheme", ("HTTP", "HTTPS"), "HTTP")
    if not fields.has("port"):
        fields.error("port", "is missing", "write the port to ask")
    return True
