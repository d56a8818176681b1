"""Several ranks as the processes of one JAX program, a device each, which exchange by gloo.

What each rank has is its part of larger arrays, one behind the other along their first axis. A function that is
compiled for all ranks works on each one's own parts.
"""

import functools

import assay_worker
import jax
import jax.numpy as jnp
from jax._src import distributed, xla_bridge
from jax.extend import backend
from jaxlib import _jax

_AXIS = "ranks"
_OWN_PART = jax.sharding.PartitionSpec(_AXIS)
_TOGETHER_SECONDS = 10  # how long a rank that ends waits for the others


class Ranks:
    """Made before JAX's first operation; returns when all ranks have found each other."""

    def __init__(self, prepare):
        own_address = prepare.peers[prepare.rank].rpartition(":")[0].strip("[]")
        jax.distributed.initialize(
            coordinator_address=prepare.peers[0],
            coordinator_bind_address=prepare.peers[0],  # else it listens on every address of the host
            num_processes=prepare.ranks,
            process_id=prepare.rank,
            cluster_detection_method="deactivate",
            shutdown_timeout_seconds=_TOGETHER_SECONDS,
        )
        # There is no public way to tell gloo its address. By default it looks up the name of the host, which need not
        # be an address by which the others reach it.
        gloo = _jax.make_gloo_tcp_collectives(distributed_client=distributed.global_state.client, hostname=own_address)
        make_client = functools.partial(xla_bridge.make_cpu_client, gloo)
        backend.register_backend_factory("cpu", make_client, priority=0, fail_quietly=False)
        devices = {device.process_index: device for device in reversed(jax.devices())}  # the first of each
        mesh = jax.sharding.Mesh([devices[rank] for rank in range(prepare.ranks)], (_AXIS,))
        self._mesh, self._ranks = mesh, prepare.ranks
        self._sharding = jax.sharding.NamedSharding(mesh, _OWN_PART)
        self._meet, self._present = self.compiled(self.mean), self.shared(jnp.ones(1))
        self.barrier()

    def compiled(self, function, **arguments):
        """As jax.jit, for arrays that are shared."""
        parts = {"in_specs": _OWN_PART, "out_specs": _OWN_PART, "check_vma": False}
        return jax.jit(jax.shard_map(function, mesh=self._mesh, **parts), **arguments)

    def mean(self, tree):
        """Of each array over all ranks. Part of a compiled function."""
        return jax.lax.pmean(tree, _AXIS)

    def shared(self, tree):
        """Own arrays as parts of larger ones. Nothing is copied or sent."""
        return jax.tree.map(self._share, tree)

    def own(self, tree):
        """The own parts of shared arrays."""
        return jax.tree.map(lambda array: array.addressable_data(0), tree)

    def barrier(self):
        self._meet(self._present).block_until_ready()

    def _share(self, array):
        if not array.ndim:
            raise assay_worker.Refused("a parameter without dimensions: with several ranks give it the shape [1].")
        shape = (array.shape[0] * self._ranks, *array.shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self._sharding, [array])
