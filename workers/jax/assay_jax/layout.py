"""Where the channels of an image or a volume lie. A graph has them in front of height and width, behind the batch."""

import math


class Layout:
    """`channels`: the axis of an image or a volume in a batch, `spatial`: those of an image's height and width."""

    def __init__(self, name):
        self.name, self.last = name, name == "nhwc"
        self.channels, self.spatial = (-1, (1, 2)) if self.last else (1, (2, 3))

    def from_graph(self, x):
        """A batch of images or volumes as they lie here; whatever else `x` is stays."""
        return x.transpose(0, *range(2, x.ndim), 1) if self._turns(x) else x

    def to_graph(self, x):
        """A batch of images or volumes with their channels in front; whatever else `x` is stays."""
        return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)) if self._turns(x) else x

    def kernel(self, weight):
        """A convolution's weight, which the graph has as [out, in / groups, (depth,) height, width], or as
        [in, out, height, width] of a transposed one."""
        return weight.transpose(*range(2, weight.ndim), 1, 0) if self.last else weight

    def dimensions(self, x):
        """Of a convolution on such a batch: the letters of its input, weight and output."""
        axes = "DHW"[5 - x.ndim :]
        return ("N%sC" % axes, axes + "IO", "N%sC" % axes) if self.last else ("NC" + axes, "OI" + axes, "NC" + axes)

    def along_channels(self, vector, x):
        """One value for each channel, to meet the batch `x`."""
        return vector.reshape(-1) if self.last else vector.reshape(-1, *[1] * (x.ndim - 2))

    def spread(self, of_space, otherwise):
        """A value for each axis of a batch: those of (depth,) height and width, and one for batch and channels."""
        return (otherwise, *of_space, otherwise) if self.last else (otherwise, otherwise, *of_space)

    def to_sequence(self, x):
        """[batch, pixels, channels] of a batch of images."""
        if self.last:
            return x.reshape(x.shape[0], math.prod(x.shape[1:-1]), x.shape[-1])
        return x.reshape(*x.shape[:2], -1).swapaxes(1, 2)

    def _turns(self, x):
        return self.last and x.ndim >= 4
