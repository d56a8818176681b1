"""Where the channels of an image lie. A graph has them in front, [channels, height, width], behind the batch."""


class Layout:
    """`channels`: the axis of an image in a batch. `dimensions`: of a convolution's input, weight and output."""

    def __init__(self, name):
        self.name, last = name, name == "nhwc"
        self.channels, self.spatial = (3, (1, 2)) if last else (1, (2, 3))
        self.dimensions = ("NHWC", "HWIO", "NHWC") if last else ("NCHW", "OIHW", "NCHW")
        self._last = last

    def from_graph(self, x):
        """A batch of images as they lie here; whatever else `x` is stays."""
        return x.transpose(0, 2, 3, 1) if self._last and x.ndim == 4 else x

    def to_graph(self, x):
        """A batch of images with their channels in front; whatever else `x` is stays."""
        return x.transpose(0, 3, 1, 2) if self._last and x.ndim == 4 else x

    def kernel(self, weight):
        """A convolution's weight, which the graph has as [out, in / groups, height, width]."""
        return weight.transpose(2, 3, 1, 0) if self._last else weight

    def along_channels(self, vector):
        """One value for each channel, to meet a batch of images."""
        return vector.reshape(-1) if self._last else vector.reshape(-1, 1, 1)

    def spread(self, of_height_and_width, otherwise):
        """A value for each axis of a batch of images: two for height and width, one for batch and channels."""
        down, right = of_height_and_width
        return (otherwise, down, right, otherwise) if self._last else (otherwise, otherwise, down, right)
