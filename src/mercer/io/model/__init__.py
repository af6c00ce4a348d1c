"""mercer's own model file: safetensors and a description in JSON, opened without running code."""
