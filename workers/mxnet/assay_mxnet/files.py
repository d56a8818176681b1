"""Input from files: Gluon's own DataLoader over the data set."""

import assay_data
import assay_worker
import mxnet
import numpy
from mxnet import gluon


class Loader:
    """Batches in turn. `effective`: loaders, batches ahead and page cache as they are."""

    def __init__(self, data, settings):
        loaders, prefetch = settings.get("loaders") or 0, settings.get("prefetch")
        if prefetch and not loaders:
            message = "prefetch %d without loaders: then the step itself loads, and nothing ahead. Set loaders."
            raise assay_worker.Refused(message % prefetch)
        named = {"batch_sampler": _Batches(data), "num_workers": loaders, "prefetch": prefetch}
        made = gluon.data.DataLoader(_Samples(data), **named)
        ahead = made._prefetch
        self._names = data.names
        self._feed = assay_data.Feed(data, ahead)
        self.effective = {"loaders": loaders, "prefetch": ahead, **self._feed.effective}
        self._batches = iter(made)

    def next(self):
        """Arrays by the names of the inputs, and `target`."""
        batch = next(self._batches)
        self._feed.used()
        return {name: array.as_in_context(mxnet.cpu()) for name, array in zip(self._names, batch)}


def loaded(steps, loader, names):
    """`steps`, each on a new batch. `names`: what the block takes, in order."""

    def load():
        batch = loader.next()
        steps.take([batch[name] for name in names])
        mxnet.nd.waitall()

    return assay_data.LoadedSteps(steps, load)


class _Samples(gluon.data.Dataset):
    """Integers in 32 bits, as the network takes them."""

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, index):
        return tuple(part if part.dtype == numpy.float32 else part.astype("int32") for part in self._data[index])


class _Batches(gluon.data.Sampler):
    """Sample numbers of each batch, as DataLoader asks for them."""

    def __init__(self, data):
        self._data = data

    def __iter__(self):
        return self._data.batches()

    def __len__(self):
        return len(self._data)
