"""
The agent inside the demonstration's own process, for the simulated stage: its real life and tick, on edges that are handed to it.

Nothing of the agent is left out or made easier; only its loop is, because the stage says when a second has passed. Folder and journal are real files, so that what it did can
be told and kept as ever.
"""

from pathlib import Path

from slackwater.agent import life
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration_layers import load
from slackwater.agent.edges import Edges
from slackwater.agent.tick import tick
from slackwater.api.units import Bytes, Seconds
from slackwater.cluster import folder as folders
from slackwater.cluster.folder import FolderCluster
from slackwater.cluster.ledger import state_folder
from slackwater.decide.plan import Decision
from slackwater.demo.stage import Broken
from slackwater.host.edge import Host
from slackwater.journal.reading import Reader
from slackwater.journal.store import SqliteJournal
from slackwater.metrics.builtin import BUILTIN

DAY = Seconds(86_400.0)
JOURNAL_BYTES = Bytes(64 << 20)


class InProcess:
    """One life of an agent."""

    def __init__(self, directory: Path, configuration: Path, host: Host, clock: AgentClock) -> None:
        self._journal = state_folder(directory) / "journal.db"
        self._configuration = load(configuration, {}, {"cluster": f"folder:{directory}"})
        survey = host.survey()
        self._edges = Edges(
            host=host,
            cluster=FolderCluster(
                directory,
                folders.Machine("simulated", survey.cpu, survey.memory),
                clock=clock.instant,
                wall=clock.wall,
            ),
            journal=SqliteJournal(self._journal, max_age=DAY, max_bytes=JOURNAL_BYTES, wall=clock.wall),
            clock=clock,
            rivals=lambda: (),
        )
        self._held = life.begun(host, self._edges.journal, clock)

    def tick(self) -> None:
        self._held = tick(self._edges, self._held, self._configuration, BUILTIN)

    def decisions(self) -> list[Decision]:
        with Reader(self._journal) as reader:
            return reader.decisions()

    def end(self) -> None:
        given_back = life.give_back(self._edges, self._held, self._configuration, "the agent ended")
        self._edges.cluster.close()
        self._edges.journal.close()
        if not given_back:
            raise Broken("the agent could not give everything back")
