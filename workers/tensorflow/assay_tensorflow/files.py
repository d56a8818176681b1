"""Input from files: a pipeline of tf.data, which reads and decodes by TensorFlow's own operators."""

import math
import os

import assay_data
import assay_worker
import keras
import tensorflow as tf

_BUFFER_BYTES = 256 << 10  # of a reader, as TensorFlow has it by default


class Loader:
    """Batches in turn. `effective`: loaders, batches ahead and page cache as they are."""

    def __init__(self, data, settings):
        loaders, prefetch = settings.get("loaders"), settings.get("prefetch")
        self._data, self._number, self.effective = data, 0, {}
        samples = (_images if isinstance(data, assay_data.Images) else _tokens)(data, loaders or None)
        batches = samples.batch(data.batch, drop_remainder=True)
        if prefetch:
            batches = batches.prefetch(prefetch)
        if loaders is None and prefetch is None:  # all is left to tf.data, which may do more than it is told
            if data.page_cache == "cold":
                raise assay_worker.Refused("page_cache 'cold' needs loaders and prefetch: how far tf.data reads ahead.")
            self._ahead = 0
        else:
            batches = batches.with_options(_as_told(loaders or 0))
            self.effective = {"loaders": loaders or 0, "prefetch": prefetch or 0}
            self._ahead = (prefetch or 0) + 1 + (loaders or 0) // data.batch + _batches_in_buffer(data)
        self._feed = assay_data.Feed(data, self._ahead)
        self.effective.update(self._feed.effective)
        self._batches = iter(batches)

    def next(self):
        """The inputs as a list, and the target or None."""
        try:
            batch = list(next(self._batches))
        except tf.errors.OpError:
            self._find_damaged()
            raise
        self._feed.used()
        self._number += 1
        target = batch.pop() if self._data.has_target else None
        return batch, target

    def _find_damaged(self):
        """TensorFlow does not say which file it could not decode."""
        for number in range(self._number, self._number + self._ahead + 1):
            for index in self._data.batch_at(number):
                self._data[index]


def loaded(steps, loader):
    """`steps`, each on a new batch."""
    return assay_data.LoadedSteps(steps, lambda: steps.take(*loader.next()))


def _images(data, loaders):
    parts = (data.labels[data.order],) if data.has_target else ()
    if data.chunks is None:
        samples, content = tf.data.Dataset.from_tensor_slices((data.files(), *parts)), tf.io.read_file
    else:
        records = tf.data.TFRecordDataset(data.files(), buffer_size=_BUFFER_BYTES)
        samples = tf.data.Dataset.zip((records, *map(tf.data.Dataset.from_tensor_slices, parts)))
        content = tf.identity
    scale, shift = (tf.constant(value) for value in assay_data.scale_and_shift())
    top, left = (data.side - data.height) // 2, (data.side - data.width) // 2

    def load(source, *label):
        # The decoder's default is a faster and coarser one, which nobody else has.
        pixels = tf.io.decode_jpeg(content(source), channels=3, dct_method="INTEGER_ACCURATE")
        middle = pixels[top : top + data.height, left : left + data.width]
        middle = tf.ensure_shape(middle, (data.height, data.width, 3))
        return tf.cast(tf.cast(middle, tf.float32) * scale + shift, keras.config.floatx()), *label

    return samples.repeat().map(load, num_parallel_calls=loaders)


def _tokens(data, loaders):
    size, before, behind = data.sample_bytes, 0, 0
    if data.chunk_count is None:  # ranks and instances share the file
        before, behind = data.order[0] * size, (data.count - 1 - data.order[-1]) * size
    segments = [tf.constant(data.segments(wanted)) for wanted in data.inputs[1:]]

    def load(record):
        drawn = tf.ensure_shape(tf.cast(tf.io.decode_raw(record, tf.uint16), tf.int64), (data.length + 1,))
        return (drawn[:-1], *segments, drawn[1:]) if data.has_target else (drawn[:-1], *segments)

    records = tf.data.FixedLengthRecordDataset(data.files(), size, before, behind, _BUFFER_BYTES)
    return records.repeat().map(load, num_parallel_calls=loaders)


def _batches_in_buffer(data):
    """Of a chunk that is being read. A file that is one image is read whole."""
    if data.chunk_count is None:
        return 0
    sample_bytes = sum(map(os.path.getsize, data.files())) / len(data.order)
    chunk_samples = -(-data.count // data.chunk_count)
    return math.ceil(min(_BUFFER_BYTES / sample_bytes, chunk_samples) / data.batch)


def _as_told(loaders):
    """tf.data else adds threads and batches ahead by itself, and shares the threads that run operators."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.threading.private_threadpool_size = max(1, loaders)
    options.threading.max_intra_op_parallelism = 1
    return options
