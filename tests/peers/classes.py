"""Which of our classes stand for which of scikit-learn's, and in which of its test modules."""

SWAPPED = {
    "sklearn.svm": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "sklearn.kernel_ridge": ("KernelRidge",),
    "sklearn.decomposition": ("KernelPCA",),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "sklearn.gaussian_process": ("GaussianProcessRegressor", "GaussianProcessClassifier"),
}

MODULES = (
    "sklearn.svm.tests.test_svm",
    "sklearn.svm.tests.test_sparse",
    "sklearn.tests.test_kernel_ridge",
    "sklearn.decomposition.tests.test_kernel_pca",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.gaussian_process.tests.test_gpr",
    "sklearn.gaussian_process.tests.test_gpc",
)
