"""Input from files: torch's own DataLoader over the data set, and steps that begin with the next batch."""

import assay_data
import assay_worker
from torch.utils.data import DataLoader


class Loader:
    """Batches in turn. `effective`: loaders, batches ahead and page cache as they are."""

    def __init__(self, data, settings):
        loaders, factor = _loaders_and_factor(settings)
        made = DataLoader(data, batch_sampler=_Batches(data), num_workers=loaders, prefetch_factor=factor)
        ahead = made.num_workers * (made.prefetch_factor or 0)
        self._feed, self._has_target = assay_data.Feed(data, ahead), data.has_target
        self.effective = {"loaders": made.num_workers, "prefetch": ahead, **self._feed.effective}
        self._batches = iter(made)

    def next(self):
        """The inputs, and the target or None."""
        batch = next(self._batches)
        self._feed.used()
        target = batch.pop() if self._has_target else None
        return batch, target


def loaded(steps, loader, device, loss):
    """`steps`, each on a new batch. Its load ends when the batch has its precision and layout, on its device."""

    def load():
        inputs, target = loader.next()
        steps.take(device.move_inputs(inputs))
        if target is not None:
            loss.take(target)
        device.wait()

    return assay_data.LoadedSteps(steps, load)


class _Batches:
    """Sample numbers of each batch, as DataLoader asks for them."""

    def __init__(self, data):
        self._data = data

    def __iter__(self):
        return self._data.batches()


def _loaders_and_factor(settings):
    """DataLoader's num_workers, and prefetch_factor: batches ahead for each of them, None for its default."""
    loaders, prefetch = settings.get("loaders") or 0, settings.get("prefetch")
    if loaders == 0:
        if prefetch:
            message = "prefetch %d without loaders: then the step itself loads, and nothing ahead. Set loaders."
            raise assay_worker.Refused(message % prefetch)
        return 0, None
    if prefetch is None:
        return loaders, None
    if prefetch == 0 or prefetch % loaders:
        message = "prefetch %d with loaders %d: each loader loads as many batches ahead, one or more. Use %d."
        raise assay_worker.Refused(message % (prefetch, loaders, loaders * max(1, round(prefetch / loaders))))
    return loaders, prefetch // loaders
