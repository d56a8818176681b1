"""Assay's worker for MXNet. All but `settings` and `ranks` import mxnet at their top: import them once settings are
applied."""
