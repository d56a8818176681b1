"""Faults against one of several ranks, at a seeded moment, and what must hold after each.

Within LIMIT_SECONDS of the fault the run has a typed outcome in the store, and by then nothing that ran at the time of
the fault does any more. A run that was interrupted is measured again at once, and then ends well.
"""

import dataclasses
import signal
import time

from rank_runs import BUILD, RankRuns

LIMIT_SECONDS = 15
START_SECONDS = 60  # for what is to be hit to appear, and for the command to end
LAUNCH_SECONDS = 8  # for mpirun to start the ranks, where a host is not there
STEPS_SECONDS = 1.5  # so long after all workers have started at the latest: they prepare, and then take steps
ARGUMENTS = (
    *("all_reduce", "--worker", "mpi", "--option", "bytes=1048560", "--spin", "false"),
    *("--runs", "1", "--retries", "0", "--warmup", "200ms", "--seconds", "2s"),
)

# When a fault hits: before mpirun has reached the host, before the rank has met the others, as soon as there is
# something to hit, or while workers prepare and take steps.
LAUNCH, MEETING, AT_ONCE, LATER = "launch", "meeting", "at once", "later"
SHARES = {AT_ONCE: 1, LATER: 4}
MOMENTS = {"stop assay-rank": {MEETING: 1, **SHARES}, "cut host": {LAUNCH: 1, **SHARES}, "hang ssh": {LAUNCH: 1}}

# What each must end as. Interrupted: not the workload's fault, so it is measured again.
KINDS = {
    "kill worker": {"crashed", "failed"},
    "kill assay-rank": {"interrupted"},
    "stop worker": {"timed_out"},
    "stop assay-rank": {"timed_out"},
    "cut host": {"timed_out"},
    "kill mpirun": {"interrupted"},
    "hang ssh": {"interrupted"},
}
FAULTS = tuple(KINDS)
STOPPED_RANK = """#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != %d ] || kill -STOP $$
exec "%s" "$@"
"""
HANGING_SSH = """#!/bin/sh
[ -e "%s" ] || exec sleep 1000
exec "%s" "$@"
"""
WORKER, RANK, LAUNCHER = "assay-worker-mpi", "assay-rank", "mpirun"


@dataclasses.dataclass
class Try:
    """One fault and what came of it."""

    fault: str
    rank: int
    ranks: int
    spread: bool
    moment: str
    delay: float = 0  # seconds, where it is later
    hit: bool = True  # false where the run was over before
    seconds: float | None = None  # from the fault to the outcome
    kind: str = ""
    message: str = ""
    wrong: list = dataclasses.field(default_factory=list)

    def __str__(self):
        where = "on %d hosts" % self.ranks if self.spread else "on one host"
        when = self.moment + (" by %.2f s" % self.delay if self.moment == LATER else "")
        return "%s, rank %d of %d %s, %s: %s (%s) after %s s; %s" % (
            *(self.fault, self.rank, self.ranks, where, when, self.kind or "no outcome", self.message[:300]),
            *("-" if self.seconds is None else "%.1f" % self.seconds, "; ".join(self.wrong) or "as it must be"),
        )


def draw(fault, rng, most_ranks):
    """Which rank of how many, where they are, and when."""
    ranks = rng.randint(2, most_ranks)
    spread = fault in ("cut host", "hang ssh") or rng.random() < 0.7
    moments = MOMENTS.get(fault, SHARES)
    moment = rng.choices([*moments], [*moments.values()])[0]
    return Try(fault, rng.randrange(ranks), ranks, spread, moment, rng.uniform(0, STEPS_SECONDS))


def until(condition, seconds, pause=0.01):
    """Polls until the condition gives something true, and returns that; None after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            return None
        time.sleep(pause)
    return result


def targets(runs, one):
    """Processes that the fault can hit; for a host that is cut off, those that say that it is in use."""
    name = {"worker": WORKER, "mpirun": LAUNCHER}.get(one.fault.split()[1], RANK)
    name = LAUNCHER if one.moment == LAUNCH else name
    return [p for p in runs.processes() if p.name == name and (name == LAUNCHER or p.rank == one.rank)]


def wait_for_the_moment(runs, one, program):
    """The process to hit, or None where the run ended before."""

    def workers():
        return program.poll() is not None or sum(p.name == WORKER for p in runs.processes()) >= one.ranks

    until(lambda: program.poll() is not None or targets(runs, one), START_SECONDS)
    if one.moment == LATER:
        until(workers, START_SECONDS)
        until(lambda: program.poll() is not None, one.delay)
    return next(iter(targets(runs, one)), None)


def set_up(one, runs):
    """Faults that are there before the run is. What its command needs for that."""
    if one.moment == LAUNCH:
        if one.fault == "cut host":
            runs.hosts.link_down(one.rank)
        else:
            runs.replace_ssh(HANGING_SSH)
        return ["--prepare-limit", "%ds" % LAUNCH_SECONDS]
    if one.moment == MEETING:
        runs.replace_rank_program(STOPPED_RANK % (one.rank, BUILD / "libexec" / "assay-rank"))
    return []


def apply(one, hosts, target):
    if one.fault == "cut host":
        hosts.link_down(one.rank)
    elif one.moment in (AT_ONCE, LATER):
        target.send(signal.SIGKILL if one.fault.startswith("kill") else signal.SIGSTOP)


def mend(one, runs):
    if one.fault == "cut host":
        runs.hosts.link_up(one.rank)
    runs.mended.touch()


def kinds(one):
    return {"interrupted"} if one.moment == LAUNCH else KINDS[one.fault]


def judge_first(one, runs, there):
    """The outcome of the disturbed attempt, and whom it left."""
    begin = time.monotonic()
    first = until(lambda: runs.rows("SELECT outcome, message FROM record WHERE attempt = 0"), LIMIT_SECONDS, 0.05)
    one.seconds = time.monotonic() - begin
    if not first:
        one.seconds = None
        one.wrong.append("no outcome within %d s" % LIMIT_SECONDS)
        return
    one.kind, one.message = first[0]
    if one.kind == "ok":
        one.hit = False  # it had all it wanted just before
    elif one.kind not in kinds(one):
        one.wrong.append("%s in place of %s" % (one.kind, " or ".join(sorted(kinds(one)))))
    left = [p for p in there if p.alive()]
    if left:
        one.wrong.append("still there: %s" % left)


def judge_end(one, runs, program):
    """After the command has ended: one counted record, good where the attempt was interrupted, and nothing left."""
    if until(lambda: program.poll() is not None, START_SECONDS) is None:
        one.wrong.append("the command has not ended")
        return
    wanted = "ok" if one.kind == "interrupted" else one.kind
    counted = [kind for (kind,) in runs.rows("SELECT outcome FROM record WHERE counted = 1")]
    if counted != [wanted]:
        one.wrong.append("in the end %s in place of %s: %s" % (counted, wanted, runs.said()[-500:]))
    if left := runs.processes():
        one.wrong.append("left: %s" % left)
    if folders := list(runs.temporary.glob("assay-*/*")):
        one.wrong.append("run directories left: %s" % [folder.name for folder in folders])


def carry_out(one, folder, hosts, planted=None):
    """Runs it with the fault; fills in and returns `one`."""
    with RankRuns(folder, hosts, one.spread, planted) as runs:
        program = runs.start(*ARGUMENTS, *set_up(one, runs), ranks=one.ranks)
        try:
            target = wait_for_the_moment(runs, one, program)
            if target is None:
                one.hit = False
                one.wrong += [] if program.poll() == 0 else ["the run did not start: %s" % runs.said()[-500:]]
                return one
            there = [process for process in runs.processes() if process.pid != program.pid]
            apply(one, hosts, target)
            judge_first(one, runs, there)
            mend(one, runs)
            if one.kind:
                judge_end(one, runs, program)
        finally:
            mend(one, runs)
            runs.end()
            program.wait()
    return one
