"""Projections in feature space: directions of variance, of agreement, of difference between classes."""

from mercer.estimators.projection._kernel_cca import KernelCCA
from mercer.estimators.projection._kernel_fisher import KernelFisherDiscriminant
from mercer.estimators.projection._kernel_pca import KernelPCA
from mercer.estimators.projection._mercer_features import MercerFeatures

__all__ = ["KernelCCA", "KernelFisherDiscriminant", "KernelPCA", "MercerFeatures"]
