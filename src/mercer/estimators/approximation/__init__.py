"""Kernel machines on explicit features that stand for their kernel: ``approximation=``."""
