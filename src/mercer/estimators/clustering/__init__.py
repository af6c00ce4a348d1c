"""Clusters in feature space."""

from mercer.estimators.clustering._kernel_kmeans import KernelKMeans
from mercer.estimators.clustering._support_vector import SupportVectorClustering

__all__ = ["KernelKMeans", "SupportVectorClustering"]
