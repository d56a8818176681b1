"""Several ranks as the workers of a MultiWorkerMirroredStrategy, one replica each."""

import json
import os

import tensorflow as tf


class Ranks:
    """Made before TensorFlow's first operation; returns when all ranks have found each other."""

    def __init__(self, prepare):
        task = {"type": "worker", "index": prepare.rank}
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": prepare.peers}, "task": task})
        bucket_bytes = prepare.settings.get("bucket_bytes")
        # 0 is TensorFlow's own choice: all gradients in one piece.
        self._options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=bucket_bytes or 0)
        self._strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=self._options)
        self.effective = {} if bucket_bytes is None else {"bucket_bytes": bucket_bytes}
        self._meet = tf.function(lambda: self.mean([tf.ones(())]), autograph=False)

    def mean(self, gradients):
        """Of each over all ranks. Part of a traced function."""

        def reduce(values):
            values = [tf.identity(value) for value in values]  # on the replica's device, as all_reduce wants them
            context = tf.distribute.get_replica_context()
            return context.all_reduce(tf.distribute.ReduceOp.MEAN, values, options=self._options)

        return self._strategy.run(reduce, args=(gradients,))

    def barrier(self):
        self._meet()
