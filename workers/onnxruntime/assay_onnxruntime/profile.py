"""What a profile of ONNX Runtime says of each node of a graph.

A kernel is named after the node that it computes, with an ending of its own (`relu1_nchwc`,
`key/product/MatMulAddFusion`): where several nodes became one kernel, after the last of them. Those that nodes have no
part in (`ReorderOutput`) count for the node before them, those at the beginning for the first.
"""

import json
import os
import tempfile

from . import session

_KERNEL = "_kernel_time"


class ProfiledSession:
    def __init__(self, path, settings, fixed, nodes):
        self._nodes = nodes
        self._folder = tempfile.TemporaryDirectory(prefix="assay-profile-")
        self._session = session.Session(path, settings, fixed, os.path.join(self._folder.name, "profile"))

    def bind(self, inputs):
        self._session.bind(inputs)

    def step(self):
        self._session.step()

    def layers(self, count):
        """Of the last `count` steps: nanoseconds of each node, forward and (none) backward. Ends the profile."""
        with self._folder, open(self._session.end_profile(), encoding="utf-8") as file:
            events = json.load(file)
        return layers_of(events, self._nodes, count)


def layers_of(events, nodes, count):
    runs = sorted((e["ts"], e["dur"]) for e in events if e["cat"] == "Session" and e["name"] == "model_run")
    if len(runs) < count:
        raise RuntimeError("the profile has %d steps of %d: it was cut off" % (len(runs), count))
    kernels = sorted(
        (e["ts"], e["dur"], e["name"][: -len(_KERNEL)])
        for e in events
        if e["cat"] == "Node" and e["name"].endswith(_KERNEL)
    )
    steps, at = [], 0
    places = {name: i for i, name in enumerate(nodes)}
    for begin, length in runs[-count:]:
        ns, place, waiting = [0] * len(nodes), None, 0
        while at < len(kernels) and kernels[at][0] < begin:
            at += 1
        while at < len(kernels) and kernels[at][0] < begin + length:
            _, took, name = kernels[at]
            found = node_of(name, places)
            place = place if found is None else found
            waiting += 1000 * took
            if place is not None:
                ns[place] += waiting
                waiting = 0
            at += 1
        steps.append((ns, []))
    return steps


def node_of(kernel, places):
    """The place of the node whose name the kernel's begins with, up to a `/` or `_`; the longest of them."""
    while kernel and kernel not in places:
        kernel = kernel[: max(kernel.rfind("/"), kernel.rfind("_"), 0)]
    return places.get(kernel)
