"""A data set in chunks: files in which samples lie one behind the other. Needs numpy."""

import bisect
import os

import assay_data_files


class Chunks:
    """Reads samples by their number. The chunk of the last one stays open until another one's sample is asked for.
    `places`: where each sample begins in its chunk, and its bytes."""

    def __init__(self, paths, places):
        self.paths = paths
        self._places = places
        self._begins = assay_data_files.chunk_begins(len(places), len(paths))
        self._chunk = self._file = None

    @classmethod
    def of_equal_samples(cls, paths, count, sample_bytes):
        import numpy

        begins = assay_data_files.chunk_begins(count, len(paths))
        firsts = numpy.repeat(begins[:-1], numpy.diff(begins))
        places = numpy.empty((count, 2), "int64")
        places[:, 0], places[:, 1] = (numpy.arange(count) - firsts) * sample_bytes, sample_bytes
        return cls(paths, places)

    def samples(self, chunk):
        return range(self._begins[chunk], self._begins[chunk + 1])

    def own(self, part, parts, seed):
        """Chunks that one of `parts` processes reads, in an order that follows from the seed."""
        import numpy

        return [c for c in numpy.random.default_rng(seed).permutation(len(self.paths)).tolist() if c % parts == part]

    def path_of(self, index):
        return self.paths[self._chunk_of(index)]

    def read(self, index):
        """The bytes of a sample."""
        chunk, (begin, size) = self._chunk_of(index), self._places[index].tolist()
        if chunk != self._chunk:
            self.close()
            self._file, self._chunk = open(self.paths[chunk], "rb", buffering=0), chunk
        found = os.pread(self._file.fileno(), size, begin)
        if len(found) != size:
            message = "%s ends within sample %d. Remove its folder: it is made again."
            raise assay_data_files.DamagedFile(message % (self.paths[chunk], index))
        return found

    def close(self):
        if self._file is not None:
            self._file.close()
        self._chunk = self._file = None

    def regions(self, samples):
        """Runs of samples that follow each other in a chunk; the page at the end of one stays for the next."""
        page, begin = os.sysconf("SC_PAGESIZE"), 0
        for end in range(1, len(samples) + 1):
            last, chunk = samples[end - 1], self._chunk_of(samples[end - 1])
            if end < len(samples) and samples[end] == last + 1 and self._chunk_of(last + 1) == chunk:
                continue
            first_byte = self._places[samples[begin]][0].item() // page * page
            bytes_to_last = self._places[last].sum().item() - first_byte
            yield (self.paths[chunk], first_byte, 0 if last + 1 == self._begins[chunk + 1] else bytes_to_last)
            begin = end

    def _chunk_of(self, index):
        return bisect.bisect_right(self._begins, index) - 1
