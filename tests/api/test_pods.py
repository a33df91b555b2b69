"""Pods and nodes: defaults as an API server fills them in, and the QoS class as kubelet computes it."""

import pytest

from slackwater.api.objects import Container, Node, Owner, Pod, QosClass, Resources, Taint
from slackwater.api.units import Bytes, Millicores, Seconds, Wall

from .manifest import errors, fields, loaded, of_kind, only, pod, warnings

GI = Bytes(2**30)


def containers(*resources: str) -> str:
    return "containers:\n" + "".join(
        f"- {{name: c{index}, resources: {{{each}}}}}\n" for index, each in enumerate(resources)
    )


def qos(spec: str) -> QosClass:
    return only(Pod, pod(spec)).qos_class


BOTH = "limits: {cpu: 700m, memory: 200Mi}"

CLASSES = [
    (
        "limits equal to requests",
        containers("limits: {cpu: 700m, memory: 200Mi}, requests: {cpu: 700m, memory: 200Mi}"),
        QosClass.GUARANTEED,
    ),
    ("limits alone become requests", containers(BOTH), QosClass.GUARANTEED),
    (
        "written differently, the same amount",
        containers('limits: {cpu: "1", memory: 1Gi}, requests: {cpu: 1000m, memory: 1024Mi}'),
        QosClass.GUARANTEED,
    ),
    ("memory alone", containers("limits: {memory: 200Mi}, requests: {memory: 100Mi}"), QosClass.BURSTABLE),
    ("only cpu limited", containers("limits: {cpu: 1}"), QosClass.BURSTABLE),
    (
        "a request below the limit",
        containers("limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}"),
        QosClass.BURSTABLE,
    ),
    ("nothing said", containers(""), QosClass.BEST_EFFORT),
    ("zeros are nothing said", containers("requests: {cpu: 0, memory: 0}, limits: {cpu: 0}"), QosClass.BEST_EFFORT),
    (
        "elastic resources do not count",
        containers('limits: {gocrane.io/cpu: "2"}, requests: {gocrane.io/cpu: "2"}'),
        QosClass.BEST_EFFORT,
    ),
    ("disks do not count", containers("requests: {ephemeral-storage: 1Gi}"), QosClass.BEST_EFFORT),
    ("one container that says nothing", containers(BOTH, ""), QosClass.BURSTABLE),
    ("every container has to", containers(BOTH, BOTH), QosClass.GUARANTEED),
    (
        "a millionth of a core is a difference",
        containers("limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 999999u, memory: 1Gi}"),
        QosClass.BURSTABLE,
    ),
    ("an init container counts", containers(BOTH) + "initContainers: [{name: i}]", QosClass.BURSTABLE),
    (
        "a sidecar counts",
        containers(BOTH) + "initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 1}}}]",
        QosClass.BURSTABLE,
    ),
    (
        "an init container that has both",
        containers(BOTH) + f"initContainers: [{{name: i, resources: {{{BOTH}}}}}]",
        QosClass.GUARANTEED,
    ),
    ("the pod as such goes before its containers", containers("") + f"resources: {{{BOTH}}}", QosClass.GUARANTEED),
    ("the pod as such, partly", containers(BOTH) + "resources: {requests: {cpu: 1}}", QosClass.BURSTABLE),
]


@pytest.mark.parametrize(
    ("spec", "expected"), [(spec, expected) for _, spec, expected in CLASSES], ids=[name for name, _, _ in CLASSES]
)
def test_the_qos_class_is_kubelets(spec: str, expected: QosClass) -> None:
    assert qos(spec) is expected


def test_a_limit_without_a_request_is_its_request() -> None:
    (container,) = only(Pod, pod(containers("limits: {cpu: 1500m, memory: 1Gi}, requests: {memory: 1Mi}"))).containers
    assert container.requests == Resources(cpu=Millicores(1500), memory=Bytes(2**20))
    assert container.limits == Resources(cpu=Millicores(1500), memory=GI)


def test_elastic_resources_are_cores_and_bytes_too() -> None:
    (container,) = only(Pod, pod(containers('limits: {gocrane.io/cpu: "2", gocrane.io/memory: 1Gi}'))).containers
    assert container.limits == Resources(elastic_cpu=Millicores(2000), elastic_memory=GI)


def test_a_pods_own_request_is_that_of_its_containers_else_its_limit() -> None:
    found = only(
        Pod,
        pod(
            containers("requests: {cpu: 200m}", "requests: {cpu: 300m}") + "resources: {limits: {cpu: 2, memory: 1Gi}}"
        ),
    )
    assert found.requests == Resources(cpu=Millicores(500), memory=GI)


def test_what_containers_ask_for_together_is_their_peak() -> None:
    initial = "initContainers: [{name: a, restartPolicy: Always, resources: {requests: {cpu: 100m}}}, {name: b, resources: {requests: {cpu: 900m}}}]\n"
    found = only(Pod, pod(containers("requests: {cpu: 200m}") + initial + "resources: {limits: {cpu: 2}}"))
    assert found.requests.cpu == 1000


def test_a_pod_from_a_file_is_pending_and_has_a_uid_that_stays() -> None:
    first, second = (only(Pod, pod("containers: [{name: c}]")) for _ in range(2))
    other = only(Pod, pod("containers: [{name: c}]", metadata="name: p, namespace: other"))
    assert (first.key, first.phase, first.grace, first.restart_policy) == (
        "default/p",
        "Pending",
        Seconds(30),
        "Always",
    )
    assert first.containers == (Container(name="c", running=False),)
    assert first.uid == second.uid != other.uid


def test_what_kubelet_reports_is_read() -> None:
    metadata = (
        'name: p, namespace: batch, uid: 0a-1, deletionTimestamp: "2024-05-01T12:00:10Z", deletionGracePeriodSeconds: 5, '
        "ownerReferences: [{kind: Node, name: n}, {kind: Job, name: j, controller: true}]"
    )
    spec = """
        nodeName: node-1
        priority: -10
        terminationGracePeriodSeconds: 60
        restartPolicy: Never
        containers: [{name: main}, {name: late}]
        initContainers: [{name: once}, {name: side, restartPolicy: Always}]
        """
    status = """
        phase: Running
        startTime: "2024-05-01T12:00:00Z"
        containerStatuses:
        - {name: main, containerID: "containerd://abc", state: {running: {startedAt: "2024-05-01T14:00:01+02:00"}}}
        - {name: late, state: {waiting: {reason: ContainerCreating}}}
        initContainerStatuses:
        - {name: once, containerID: "cri-o://111", state: {terminated: {exitCode: 0}}}
        - {name: side, containerID: "docker://222", state: {running: {}}}
        """
    found = only(Pod, pod(spec, status, metadata))
    assert (found.key, found.uid, found.node_name, found.priority) == ("batch/p", "0a-1", "node-1", -10)
    assert (found.phase, found.started_at, found.deleted_at, found.grace) == (
        "Running",
        Wall(1714564800),
        Wall(1714564810),
        Seconds(5),
    )
    assert (found.owner, found.restart_policy) == (Owner("Job", "j"), "Never")
    assert found.containers == (
        Container(name="main", id="abc", running=True, started_at=found.containers[0].started_at),
        Container(name="late", running=False),
        Container(name="side", id="222", running=True, sidecar=True),
    )
    assert found.containers[0].started_at == Wall(1714564801)


def test_the_class_a_pod_was_given_holds() -> None:
    assert only(Pod, pod(containers(BOTH), "qosClass: Burstable")).qos_class is QosClass.BURSTABLE


@pytest.mark.parametrize(
    ("line", "priority"),
    [
        ("priority: 5", 5),
        ("priorityClassName: system-node-critical", 2_000_001_000),
        ("priorityClassName: mine", None),
        ("hostNetwork: true", None),
    ],
)
def test_the_two_priority_classes_of_every_cluster_are_known(line: str, priority: int | None) -> None:
    assert only(Pod, pod(f"{line}\ncontainers: [{{name: c}}]")).priority == priority


def test_what_the_lab_runs_is_read() -> None:
    env = '[{name: A, value: "1"}, {name: B}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]'
    (container,) = only(
        Pod, pod(f"containers: [{{name: c, command: [python3, -c], args: [pass], env: {env}}}]")
    ).containers
    assert (container.command, container.args, container.env) == (("python3", "-c"), ("pass",), {"A": "1", "B": ""})


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (pod("containers: []"), "spec.containers"),
        (pod("containers: [{image: x}]"), "spec.containers[0].name"),
        (pod("containers: [{name: ../x}]"), "spec.containers[0].name"),
        (pod("containers: [{name: c}]\ninitContainers: [{name: c}]"), "spec.containers[0].name"),
        (pod("containers: [{name: c, command: [sleep, 10]}]"), "spec.containers[0].command[1]"),
        (pod(containers("limits: {cpu: lots}")), "spec.containers[0].resources.limits.cpu"),
        (pod(containers("requests: {cpu: -1}")), "spec.containers[0].resources.requests.cpu"),
        (pod(containers("limits: {cpu: 1}, requests: {cpu: 2}")), "spec.containers[0].resources.requests"),
        (pod("containers: [{name: c}]", metadata="name: p, uid: ../../etc"), "metadata.uid"),
        (pod("containers: [{name: c}]", metadata="name: A_b"), "metadata.name"),
        (pod("containers: [{name: c}]", metadata="namespace: x"), "metadata.name"),
        (pod("containers: [{name: c}]", metadata="name: p, labels: {a: 1}"), "metadata.labels.a"),
        (
            pod("containers: [{name: c}]", metadata="name: p, annotations: {x.io/a: on, x.io/b: true}"),
            "metadata.annotations[x.io/b]",
        ),
        (pod("containers: [{name: c}]", "startTime: yesterday"), "status.startTime"),
        (
            pod("containers: [{name: c}]", "containerStatuses: [{name: c, containerID: 'x://../y'}]"),
            "status.containerStatuses[0].containerID",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {annotations: {a: b}}\n", "spec"),
    ],
)
def test_a_pod_that_is_wrong_has_one_clear_error(text: str, field: str) -> None:
    found = loaded(text)
    assert found.objects == ()
    assert fields(errors(found)) == [field]


def test_the_many_fields_that_are_not_read_are_nobodys_concern() -> None:
    assert loaded(pod("containers: [{name: c, livenessProbe: {}, ports: []}]\nvolumes: []\nnewest: 1")).problems == ()


def test_a_node_says_how_much_there_is_of_it() -> None:
    text = of_kind(
        "Node", "taints: [{key: k, effect: NoSchedule, value: v}]", name="n, labels: {pool: a}", version="v1"
    )
    found = only(Node, text + "status: {capacity: {cpu: 3500m, memory: 8Gi, pods: 110}}\n")
    assert found == Node(
        name="n",
        labels={"pool": "a"},
        taints=(Taint(key="k", effect="NoSchedule", value="v"),),
        cpu=Millicores(3500),
        memory=Bytes(8 * 2**30),
    )


def test_a_node_may_leave_its_size_to_be_measured() -> None:
    found = only(Node, "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n")
    assert (found.cpu, found.memory) == (None, None)
    assert loaded("apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {capacity: {cpu: 0}}\n").objects == ()


def test_a_slip_of_the_pen_in_a_pod_is_warned_of_and_what_is_merely_not_read_is_not() -> None:
    found = loaded(
        """
apiVersion: v1
kind: Pod
metadata: {name: p, lables: {a: b}, finalizers: []}
spec:
  priorty: -10
  nodeSelector: {a: b}
  containers:
  - {name: c, comand: [x], envFrom: [], volumeMounts: [], resources: {request: {cpu: 1}, limits: {memroy: 1Gi}}}
"""
    )
    assert [problem.field.rpartition(".")[2] for problem in warnings(found)] == [
        "lables",
        "priorty",
        "comand",
        "request",
        "memroy",
    ]
