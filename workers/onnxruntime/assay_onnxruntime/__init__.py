"""Assay's worker for ONNX Runtime. Modules import onnx and onnxruntime at their top: import them after `prepare`."""
