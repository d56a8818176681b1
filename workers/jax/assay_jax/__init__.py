"""Assay's worker for JAX. All but `settings` import it at their top: import them once settings are applied.

A package, so that a user's own file may be called network.py or settings.py.
"""
