"""Traces of a made-up training job, as PyTorch's profiler would write them, from a simulation of its own: what the step
would be after a change is known by simulating it again.

Each rank's host loads a batch, launches kernels of a forward and a backward pass on one stream, and after every few
kernels of the backward pass an all-reduce on another, which ends on all ranks when the last has come and the bytes have
moved. Then the update waits for the last all-reduce, and the host for the update.

    python3 bench/parts/made_up_job.py FOLDER [--slow RANK] [--input MS]
"""

import argparse
import copy
import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Job:
    ranks: int = 4
    steps: int = 3
    kernels: int = 40  # forward; as many again backward
    kernel_us: float = 200.0
    collectives: int = 5
    transfer_us: float = 600.0  # the last one is not hidden: 3.5 % of a step
    input_us: float = 100.0
    host_us: float = 20.0  # for each launch
    slow: dict = dataclasses.field(default_factory=dict)  # rank: how many times as long its kernels take
    late: dict = dataclasses.field(default_factory=dict)  # rank: how many times as long its input takes

    def changed(self, **fields):
        return dataclasses.replace(copy.deepcopy(self), **fields)


class Rank:
    """Host and device of one process; times in microseconds of its own clock, which `clock` is ahead."""

    def __init__(self, number, clock):
        self.number, self.clock, self.correlation = number, clock, 0
        self.host = 0.0
        self.compute = self.communication = 0.0  # when the streams are free
        self.events = []

    def add(self, category, name, begin, us, thread, **args):
        written = {"ph": "X", "cat": category, "name": name, "pid": self.number, "tid": thread}
        self.events.append(written | {"ts": round(begin + self.clock, 3), "dur": round(us, 3), "args": args})

    def call(self, name, us=4.0):
        self.correlation += 1
        self.add("cuda_runtime", name, self.host, us, 1, correlation=self.correlation)
        return self.correlation

    def launched(self, host_us):
        """The host works and launches: when the work could begin."""
        self.host += host_us
        correlation = self.call("cudaLaunchKernel")
        return correlation, self.host + 6.0

    def work(self, name, begin, us, stream, correlation):
        self.add("kernel", name, begin, us, stream, stream=stream, device=0, correlation=correlation)


def kernel(rank, job, name, after=0.0):
    correlation, ready = rank.launched(job.host_us)
    begin = max(ready, rank.compute + 1.0, after)
    us = job.kernel_us * job.slow.get(rank.number, 1.0)
    rank.work(name, begin, us, 7, correlation)
    rank.compute = begin + us


def collective(ranks, job):
    """NCCL's stream waits for the gradients; nobody ends before the last has come."""
    begins = []
    for rank in ranks:
        rank.host += 5.0
        rank.call("cudaEventRecord", 1.0)
        rank.host += 2.0
        rank.call("cudaStreamWaitEvent", 1.0)
        correlation, ready = rank.launched(job.host_us)
        begins.append((max(ready, rank.communication + 1.0, rank.compute + 1.0), correlation))
    end = max(begin for begin, _ in begins) + job.transfer_us
    for rank, (begin, correlation) in zip(ranks, begins, strict=True):
        rank.work("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", begin, end - begin, 20, correlation)
        rank.communication = end


def step(ranks, job, number):
    begins = []
    for rank in ranks:
        begins.append(rank.host)
        us = job.input_us * job.late.get(rank.number, 1.0)
        rank.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", rank.host, us, 1)
        rank.host += us
        for _ in range(job.kernels):
            kernel(rank, job, "void forward_kernel<float>(float*)")
    every = max(1, job.kernels // job.collectives) if job.collectives else job.kernels + 1
    for index in range(job.kernels):
        for rank in ranks:
            kernel(rank, job, "void backward_kernel<float>(float*)")
        if (index + 1) % every == 0:
            collective(ranks, job)
    for rank, begin in zip(ranks, begins, strict=True):
        rank.host += 5.0
        rank.call("cudaStreamWaitEvent", 1.0)
        kernel(rank, job, "void update_kernel<float>(float*)", rank.communication + 1.0)
        rank.host += 5.0
        end = max(rank.host, rank.compute) + 4.0
        rank.call("cudaStreamSynchronize", end - rank.host)
        rank.host = end
        rank.add("user_annotation", f"ProfilerStep#{number}", begin, rank.host - begin, 1)
        rank.host += 30.0


def simulated(job):
    """The trace of each rank, and seconds of a step of the slowest."""
    ranks = [Rank(number, 1e9 + 5000.0 * number) for number in range(job.ranks)]
    for number in range(job.steps):
        step(ranks, job, number)
    traces = [
        {"schemaVersion": 1, "distributedInfo": {"rank": rank.number, "world_size": job.ranks}}
        | {"traceEvents": rank.events}
        for rank in ranks
    ]
    return traces, 1e-6 * (max(rank.host for rank in ranks) - 30.0) / job.steps


def write(job, folder):
    """A file for each rank; returns seconds of a step."""
    traces, seconds = simulated(job)
    folder.mkdir(parents=True, exist_ok=True)
    for number, trace in enumerate(traces):
        (folder / f"rank{number}.json").write_text(json.dumps(trace))
    return seconds


def with_stall(trace, us):
    """A trace whose loader takes `us` longer in each step: all that the host does after it comes later by that, and so
    does what it launches."""
    marks = [event for event in trace["traceEvents"] if "enumerate(DataLoader)" in str(event.get("name"))]
    ends = sorted(event["ts"] + event["dur"] for event in marks)
    launched = {
        event["args"]["correlation"]: event["ts"]
        for event in trace["traceEvents"]
        if event.get("cat") == "cuda_runtime" and "correlation" in event.get("args", {})
    }
    out = copy.deepcopy(trace)
    for event in out["traceEvents"]:
        if event.get("ph") != "X":
            continue
        host = event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset")
        at = event["ts"] if host else launched.get(event.get("args", {}).get("correlation"), event["ts"])
        begin = sum(at >= end for end in ends)
        if host:
            # The loader, and what it is part of, such as its step, grow by the stalls within.
            event["dur"] += us * (sum(event["ts"] + event["dur"] >= end for end in ends) - begin)
        event["ts"] += us * begin
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--slow", type=int, metavar="RANK", help="kernels of this rank take 1.4 times as long")
    parser.add_argument("--input", type=float, default=0.1, metavar="MS", help="what the loader takes")
    options = parser.parse_args()
    slow = {} if options.slow is None else {options.slow: 1.4}
    write(Job(slow=slow, input_us=1000 * options.input), options.folder)


if __name__ == "__main__":
    main()
