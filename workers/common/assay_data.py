"""Input that is read from files: the part that is the same for every framework.

    data = assay_data.of(prepare)          # the data set, made where it is not there; None for data 'memory'
    sample = data[7]                       # the inputs of sample 7 as arrays, and its target when training
    feed = assay_data.Feed(data, ahead=2)  # puts the page cache into the state that was asked for
    for batch in ...: feed.used()          # after each batch: a cold one lets go of its pages

A framework's own loader asks for samples by batches(). Their order follows from the seed; ranks and instances have
samples of their own, and where there are chunks, chunks of their own. Needs numpy and Pillow.
"""

import io
import itertools
import os
import sys
import time

import assay_data_chunks
import assay_data_files
import assay_digits
import assay_graph
import assay_page_cache
import assay_worker

SETTINGS = {"loaders", "prefetch", "page_cache"}
STANDARD_COUNT = 512
# Of ImageNet's photographs, by which people shift and scale theirs.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
_TOKEN_BYTES = 2


def refuse_early(prepare, learns=False):
    """What needs no framework to be refused. `learns`: whether the worker trains on digits."""
    data = prepare.workload.get("data") or "memory"
    known = ("memory", "files", "digits") if learns else ("memory", "files")
    if data not in known:
        raise assay_worker.Refused("data '%s' is unknown here. There is %s." % (data, " and ".join(known)))
    if data == "digits":
        assay_digits.refuse_early(prepare)
    if data != "files":
        for name in sorted(SETTINGS):
            if prepare.settings.get(name) is not None:
                raise assay_worker.Refused("setting %s: only input from files is loaded. Set data to files." % name)
        return
    if prepare.graph is None:
        name = prepare.workload["network"]
        raise assay_worker.Refused("data 'files' for '%s': only networks of Assay's read files." % name)
    if prepare.values is not None:
        raise assay_worker.Refused("data 'files' with values: those have an input of their own. Set data to memory.")
    if prepare.data_folder is None:
        raise assay_worker.Refused("data 'files': it has no folder. Name one with ASSAY_DATA_FOLDER.")


def of(prepare):
    """The data set of a workload; None where its data is not in files."""
    if prepare.workload.get("data") != "files":
        return None
    inputs = prepare.graph["inputs"]
    if len(inputs) == 1 and inputs[0]["type"] == "real" and len(inputs[0]["shape"]) == 3 and inputs[0]["shape"][0] == 3:
        return Images(prepare)
    if all(i["type"] == "integer" and i["shape"] == inputs[0]["shape"] and len(i["shape"]) == 1 for i in inputs):
        return Tokens(prepare)
    shapes = ", ".join("%s of %s" % (i["name"], i["shape"]) for i in inputs)
    raise assay_worker.Refused("data 'files' for inputs %s: there are images of 3 channels, and tokens." % shapes)


class DataSet:
    """Samples by their number, each a tuple: its inputs, and its target where there is one. `order`: those of this
    process, in the order of a pass; passes follow without end."""

    def __init__(self, prepare):
        self.batch = prepare.workload["batch"]
        self.count = prepare.workload.get("data_count") or STANDARD_COUNT
        self.chunk_count = prepare.workload.get("data_chunks")  # None: not cut into chunks
        self.page_cache = prepare.settings.get("page_cache")
        self.has_target = prepare.trains and prepare.graph["loss"] == "cross_entropy"
        self.names = [i["name"] for i in prepare.graph["inputs"]] + ["target"] * self.has_target
        self._part, self._parts = max(prepare.rank, prepare.instance), max(prepare.ranks, prepare.instances)
        if self.count // self._parts < self.batch:
            message = "data_count %d: each of %d processes needs a batch of %d. Ask for %d or more."
            wanted = (self.count, self._parts, self.batch, self._parts * self.batch)
            raise assay_worker.Refused(message % wanted)
        if self.chunk_count is not None:
            self._check_chunks()

    def _check_chunks(self):
        if self.chunk_count < self._parts:
            message = "data_chunks %d: each of %d processes reads chunks of its own. Ask for %d or more."
            raise assay_worker.Refused(message % (self.chunk_count, self._parts, self._parts))
        smallest = self.count // self.chunk_count
        if smallest < self.batch:
            message = "data_chunks %d: a chunk of %d samples is smaller than a batch of %d. "
            message += "Ask for %d chunks or fewer, or for a data_count of %d or more."
            wanted = (self.chunk_count, smallest, self.batch, self.count // self.batch, self.chunk_count * self.batch)
            raise assay_worker.Refused(message % wanted)

    def _take_chunks(self, seed):
        """Puts those of this process in order: one chunk after the other, and each from its begin to its end."""
        own = self.chunks.own(self._part, self._parts, seed)
        self._own_paths = [self.chunks.paths[chunk] for chunk in own]
        self.order = [sample for chunk in own for sample in self.chunks.samples(chunk)]

    def __len__(self):
        return self.count

    def batches(self):
        """Lists of sample numbers, without end. A batch may reach into the next pass."""
        for number in itertools.count():
            yield self.batch_at(number)

    def batch_at(self, number):
        return [self.order[(number * self.batch + i) % len(self.order)] for i in range(self.batch)]


class Images(DataSet):
    """JPEG images, in chunks or files of their own. A sample is the middle of one, shifted and scaled, and when
    training its class."""

    def __init__(self, prepare):
        super().__init__(prepare)
        import numpy

        _need_pillow()
        _, self.height, self.width = prepare.graph["inputs"][0]["shape"]
        largest = max(self.height, self.width)
        self.side = prepare.workload.get("data_side") or round(largest * 256 / 224)
        if self.side < largest:
            message = "data_side %d: the network takes %d x %d pixels. Ask for %d or more."
            raise assay_worker.Refused(message % (self.side, self.height, self.width, largest))
        folder = assay_data_files.images(prepare.data_folder, self.count, self.side, self.chunk_count)
        if self.chunk_count is None:
            self.chunks = None
            self._paths = [assay_data_files.image_path(folder, index) for index in range(self.count)]
            order = numpy.random.default_rng(prepare.seed).permutation(self.count)
            self.order = order[self._part :: self._parts].tolist()
        else:
            paths = [assay_data_files.image_chunk_path(folder, chunk) for chunk in range(self.chunk_count)]
            self.chunks = assay_data_chunks.Chunks(paths, assay_data_files.image_places(folder, self.count))
            self._take_chunks(prepare.seed)
        self.labels = None
        if self.has_target:
            self.labels = numpy.random.default_rng(0).integers(_classes(prepare.graph), size=self.count)

    def __getitem__(self, index):
        if self.chunks is None:
            image = read_image(self._paths[index], self._paths[index], self.height, self.width)
        else:
            name = "image %d in %s" % (index, self.chunks.path_of(index))
            image = read_image(io.BytesIO(self.chunks.read(index)), name, self.height, self.width)
        return (image, self.labels[index]) if self.has_target else (image,)

    def files(self):
        return [self._paths[index] for index in self.order] if self.chunks is None else self._own_paths

    def regions(self, samples):
        if self.chunks is None:
            return [(self._paths[index], 0, 0) for index in samples]
        return self.chunks.regions(samples)


class Tokens(DataSet):
    """Samples of tokens one behind the other, in chunks or in one file, of which a process reads its part from begin to
    end. The target of a token is the next one. Other inputs are segments: 0 for the first half of a sample, 1 for the
    second."""

    def __init__(self, prepare):
        super().__init__(prepare)
        side = prepare.workload.get("data_side")
        if side is not None:
            raise assay_worker.Refused("data_side %d: tokens have no sides. Leave it unset." % side)
        self.inputs, [self.length] = prepare.graph["inputs"], prepare.graph["inputs"][0]["shape"]
        below = min(self.inputs[0]["below"], 2**16)
        if self.has_target and assay_graph.output_shape(prepare.graph)[:-1] != [self.length]:
            message = "data 'files': the output of %s is not one for each token."
            raise assay_worker.Refused(message % prepare.graph["name"])
        folder = assay_data_files.tokens(prepare.data_folder, self.count, self.length + 1, below, self.chunk_count)
        self.sample_bytes = _TOKEN_BYTES * (self.length + 1)
        if self.chunk_count is None:
            self._own_paths = [os.path.join(folder, assay_data_files.TOKENS)]
            self.chunks = assay_data_chunks.Chunks.of_equal_samples(self._own_paths, self.count, self.sample_bytes)
            own = self.count // self._parts
            self.order = range(self._part * own, (self._part + 1) * own)
        else:
            paths = [assay_data_files.token_chunk_path(folder, chunk) for chunk in range(self.chunk_count)]
            self.chunks = assay_data_chunks.Chunks.of_equal_samples(paths, self.count, self.sample_bytes)
            self._take_chunks(prepare.seed)

    def __getitem__(self, index):
        import numpy

        drawn = numpy.frombuffer(self.chunks.read(index), "<u2").astype("int64")
        if self.chunk_count is None:
            self.chunks.close()
        inputs = (drawn[:-1], *(self.segments(wanted) for wanted in self.inputs[1:]))
        return (*inputs, drawn[1:]) if self.has_target else inputs

    def segments(self, wanted):
        import numpy

        return numpy.arange(self.length) * wanted["below"] // self.length

    def files(self):
        return self._own_paths

    def regions(self, samples):
        return self.chunks.regions(samples)


class Feed:
    """The state of the page cache: brought about before the loader begins, and kept up by used() after each batch.
    `ahead`: batches that the loader may have loaded or begun before they are used."""

    def __init__(self, data, ahead):
        self._data, self._number, self._cold = data, 0, data.page_cache == "cold"
        self.effective = {}
        if data.page_cache is None:
            return
        if self._cold and (ahead + 2) * data.batch > len(data.order):
            message = "page_cache 'cold' with %d samples for this process: they are read again before the pages of %d "
            message += "batches ahead could be let go. Ask for a data_count of %d or more."
            wanted = (len(data.order), ahead, (ahead + 2) * data.batch * -(-data.count // len(data.order)))
            raise assay_worker.Refused(message % wanted)
        files = data.files()
        (assay_page_cache.drop_files if self._cold else assay_page_cache.read_files)(files)
        resident, pages = assay_page_cache.resident_pages(files)
        if resident != (0 if self._cold else pages):
            message = "page_cache '%s': of %d pages of the data set %d are in memory. %s"
            advice = "A file system in memory cannot drop its pages: name a folder on a disk with ASSAY_DATA_FOLDER."
            advice = advice if self._cold else "It does not fit: ask for a smaller data_count."
            raise assay_worker.Refused(message % (data.page_cache, pages, resident, advice))
        self.effective["page_cache"] = data.page_cache

    def used(self):
        """The next batch was handed over, so that nothing reads it any more in this pass."""
        if self._cold:
            for region in self._data.regions(self._data.batch_at(self._number)):
                assay_page_cache.drop(region)
            self._number += 1


class LoadedSteps:
    """Steps of a framework, each on a new batch that `load()` puts in place. The phase `load` is the time until it is
    there: with loaders that of waiting for it, without that of reading and decoding it."""

    nodes = ()

    def __init__(self, steps, load):
        self._steps, self._load = steps, load
        self.phases = ("load", *steps.phases)

    def step(self):
        self._load()
        self._steps.step()

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self._load()
        load_ns = time.monotonic_ns() - begin_ns
        return (load_ns, *self._steps.step_with_phases())

    def take_buckets(self):
        return self._steps.take_buckets()


def read_image(source, name, height, width):
    """The middle of an image as fp32 [3, height, width], shifted and scaled. `source`: a path or a file."""
    import numpy
    from PIL import Image

    try:
        with Image.open(source) as file:
            pixels = numpy.asarray(file.convert("RGB"))
    except OSError as error:  # Pillow's own errors are such too
        message = "%s cannot be read as an image: %s. Remove its data set: it is made again."
        raise assay_data_files.DamagedFile(message % (name, error)) from error
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    middle = pixels[top : top + height, left : left + width]
    image = numpy.empty((3, height, width), "float32")
    for channel, scale, shift in zip(range(3), *scale_and_shift()):
        numpy.multiply(middle[:, :, channel], scale, out=image[channel], dtype="float32")
        image[channel] += shift
    return image


def scale_and_shift():
    """Of pixels from 0 to 255, for each channel, in fp32."""
    import numpy

    mean, deviation = numpy.array(MEAN, "float32"), numpy.array(DEVIATION, "float32")
    return 1 / (255 * deviation), -mean / deviation


def versions():
    """Of what reads images, where it was used."""
    return {"pillow": sys.modules["PIL"].__version__} if "PIL" in sys.modules else {}


def _classes(graph):
    shape = assay_graph.output_shape(graph)
    if len(shape) != 1:
        raise assay_worker.Refused("data 'files': the output of %s is not a class for each image." % graph["name"])
    return shape[0]


def _need_pillow():
    try:
        import PIL  # noqa: F401
    except ImportError:
        message = "data 'files': this environment lacks Pillow. Make it again with `assay worker install --again`."
        raise assay_worker.Refused(message) from None
