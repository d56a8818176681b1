"""What HolisticTraceAnalysis says of GPU traces: a line of JSON for each.

    python3 -m venv build/hta && build/hta/bin/pip install --no-deps -r bench/parts/requirements-traces.txt
    HTA_DISABLE_NS_ROUNDING=1 build/hta/bin/python bench/parts/trace_oracle.py TRACE… [--path NAME=ANNOTATION#N]

Shares are of the time from the first kernel to the last. `path_seconds` is the time from the first node of its critical
path to the last, `path_begin` when that is after the annotation's begin, `path_weight` the sum of its edges: where that
is less, the path has holes that it gives no time to.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import pathlib
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.utils.utils import KernelType, get_kernel_type, merge_kernel_intervals  # noqa: E402


def merged_us(analysis, kind):
    """What kernels of a kind take together, by the oracle's own union of intervals."""
    frame, names = analysis.t.traces[0], analysis.t.symbol_table.get_sym_table()
    kernels = frame[frame["stream"].ne(-1)].copy()
    kernels = kernels[kernels["name"].map(lambda name: get_kernel_type(names[name])).eq(kind)]
    spans = merge_kernel_intervals(kernels.copy())
    return float((spans["end"] - spans["ts"]).sum())


def shares(analysis):
    """Not by get_gpu_kernel_breakdown: where kernels end and begin in the same microsecond, it loses some of them."""
    row = analysis.get_temporal_breakdown(visualize=False).to_dict("records")[0]
    whole = row["kernel_time(us)"]
    communication = merged_us(analysis, KernelType.COMMUNICATION.name) / whole
    ratio = analysis.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"][0] / 100
    return {
        "compute": row["compute_time(us)"] / whole,
        "idle": row["idle_time(us)"] / whole,
        "communication": communication,
        "overlapped_communication": communication * ratio if communication > 0 else 0.0,
    }


def path(analysis, annotation, number):
    graph, found = analysis.critical_path_analysis(rank=0, annotation=annotation, instance_id=number)
    if not found:
        return {}
    nodes = [graph.node_list[index] for index in graph.critical_path_nodes]
    frame, names = analysis.t.traces[0], analysis.t.symbol_table.get_sym_id_map()
    marks = frame[frame["name"].isin([index for name, index in names.items() if annotation in name])]
    weight = sum(edge.weight for edge in graph.critical_path_edges_set)
    bound = graph.get_critical_path_breakdown().groupby("bound_by").duration.sum()
    return {
        "path_begin": 1e-6 * float(nodes[0].ts - marks["ts"].iloc[number]),
        "path_seconds": 1e-6 * float(nodes[-1].ts - nodes[0].ts),
        "path_weight": 1e-6 * float(weight),
        "path_bound_by": {name: round(float(part) / float(weight), 4) for name, part in bound.items() if name},
    }


def look(file, annotation, number):
    """Files are taken for rank 0 each: ranks of different jobs must not meet."""
    analysis = TraceAnalysis(trace_files={0: str(file)}, trace_dir=str(file.parent), include_last_profiler_step=True)
    return shares(analysis) | path(analysis, annotation, number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="+", type=pathlib.Path)
    parser.add_argument("--path", action="append", default=[], metavar="NAME=ANNOTATION#N")
    options = parser.parse_args()
    if os.environ.get("HTA_DISABLE_NS_ROUNDING") != "1":
        parser.error("set HTA_DISABLE_NS_ROUNDING=1: it rounds times to microseconds otherwise")
    chosen = dict(one.split("=", 1) for one in options.path)
    for file in options.trace:
        name = file.name.split(".")[0]
        annotation, number = chosen.get(name, "ProfilerStep#1").rsplit("#", 1)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                found = look(file, annotation, int(number) - 1)
            except Exception as error:  # it ends with whatever pandas meets: the reason is all there is
                found = {"refused": f"{type(error).__name__}: {error}"[:120]}
        print(json.dumps({"trace": name} | found), flush=True)


if __name__ == "__main__":
    main()
