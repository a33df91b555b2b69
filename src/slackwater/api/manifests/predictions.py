"""Predictions of what a node or a workload will use: checked now, so that a mistake is found before anything is built on it; not served yet."""

from slackwater.api.manifests.fields import Fields

_TYPES = ("ResourceQuery", "MetricQuery", "ExpressionQuery")
_QUERIES = {"MetricQuery": "metricQuery", "ExpressionQuery": "expressionQuery"}


def check(spec: Fields, target: bool) -> None:
    """`target`: a TimeSeriesPrediction names what it is about; a template is about every node."""
    spec.known(("targetRef", "predictionMetrics", "predictionWindowSeconds"))
    reference = spec.inside("targetRef")
    if target and not spec.has("targetRef"):
        spec.error("targetRef", "is missing", "name the kind and the name of what is predicted")
    if reference is not None:
        reference.required("kind", "name the kind, for instance Node or Deployment")
        reference.required("name", "name the object")
    spec.whole("predictionWindowSeconds", 0)
    if not spec.entries("predictionMetrics"):
        spec.error("predictionMetrics", "is empty", "write at least one metric to predict")
    for metric in spec.each("predictionMetrics"):
        _metric(metric)


def _metric(fields: Fields) -> None:
    fields.known(("resourceIdentifier", "type", "resourceQuery", "metricQuery", "expressionQuery", "algorithm"))
    fields.required("resourceIdentifier", "name what is predicted, for instance cpu")
    kind = fields.choice("type", _TYPES, "ResourceQuery")
    query = _QUERIES.get(kind)
    if query is not None and fields.inside(query) is None and not fields.has(query):
        fields.error(query, "is missing", f"a {kind} needs one")
    algorithm = fields.inside("algorithm")
    if algorithm is None:
        fields.error("algorithm", "is missing", "write algorithm: with algorithmType: dsp or percentile")
        return
    algorithm.known(("algorithmType", "dsp", "percentile"))
    if algorithm.choice("algorithmType", ("dsp", "percentile"), "dsp") == "dsp":
        _dsp(algorithm)


def _dsp(algorithm: Fields) -> None:
    fields = algorithm.inside("dsp")
    if fields is None:
        return
    interval = fields.duration("sampleInterval")
    fields.duration("historyLength")
    estimators = fields.inside("estimators")
    if estimators is None:
        return
    for estimator in estimators.each("fft"):
        threshold = estimator.quantity("highFrequencyThreshold")
        # Samples a minute apart hold no frequency above half of one in a minute.
        if interval and threshold is not None and threshold * interval > 1 / 2:
            estimator.warn(
                "highFrequencyThreshold",
                "is above all that these samples can hold, so it filters nothing",
                f"write at most {0.5 / interval:.4g} (Hz)",
            )
