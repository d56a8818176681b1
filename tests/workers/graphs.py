"""Graphs as they travel in `prepare`, written by hand, with the shapes that the core would derive."""


def node(name, op, inputs, shape, parameters=(), **attributes):
    """`parameters`: shapes of weight and bias."""
    inputs = [inputs] if isinstance(inputs, str) else list(inputs)
    named = [{"name": n, "shape": s} for n, s in zip(("weight", "bias"), parameters)]
    return {"name": name, "op": op, "inputs": inputs, "attributes": attributes, "shape": shape, "parameters": named}


def convolution(name, source, shape, channels_in, kernel=3, stride=1, padding=1, groups=1, bias=True):
    window = {"kernel": [kernel] * 2, "stride": [stride] * 2, "padding": [padding] * 2}
    parameters = [[shape[0], channels_in // groups, kernel, kernel], [shape[0]]][: 1 + bias]
    return node(name, "convolution", source, shape, parameters, channels=shape[0], groups=groups, bias=bias, **window)


def pool(name, op, source, shape, kernel=3, stride=2, padding=0, ceil=False, **more):
    window = {"kernel": [kernel] * 2, "stride": [stride] * 2, "padding": [padding] * 2}
    return node(name, op, source, shape, ceil=ceil, **window, **more)


def linear(name, source, shape, features_in, bias=True, **more):
    parameters = [[shape[-1], features_in], [shape[-1]]][: 1 + bias]
    made = node(name, "linear", source, shape, parameters, features=shape[-1], bias=bias, **more)
    if "shared" in more:
        del made["parameters"][0]  # the weight is another node's
    return made


def norm(name, op, source, shape, features, epsilon=1e-5):
    return node(name, op, source, shape, [[features], [features]], epsilon=epsilon)


def image(shape):
    return {"name": "image", "shape": shape, "type": "real"}


def tokens(length, below):
    return {"name": "tokens", "shape": [length], "type": "integer", "below": below}


def graph(inputs, nodes, loss="mean_square", name="small"):
    count = 0
    for parameter in (p for n in nodes for p in n["parameters"]):
        size = 1
        for extent in parameter["shape"]:
            size *= extent
        count += size
    output = nodes[-1]["name"]
    named = {"version": 1, "name": name, "inputs": inputs, "nodes": nodes}
    return {**named, "output": output, "loss": loss, "parameters": count}


def small_network():
    """A residual network of a few nodes and 906 parameters, for tests that only need one."""
    return graph(
        [image([3, 16, 16])],
        [
            convolution("conv1", "image", [8, 16, 16], 3),
            node("relu1", "relu", "conv1", [8, 16, 16]),
            convolution("branch.conv", "relu1", [8, 16, 16], 8, bias=False),
            norm("branch.norm", "batch_norm", "branch.conv", [8, 16, 16], 8),
            node("sum", "add", ["branch.norm", "relu1"], [8, 16, 16]),
            node("pool", "global_average_pool", "sum", [8]),
            linear("fc", "pool", [10], 8),
        ],
        loss="cross_entropy",
    )
