"""What the fields of the records look like that estimators keep, in the language of ``fitted_shapes``."""

from __future__ import annotations

Shapes = dict[str, str]

_SPECTRAL: Shapes = {
    "_training": "points[g,d]!",
    "_map": "float[g,e]!",
    "_training_features": "float[g,e]!",
    "_known": "none",
}

# The fields of what estimators keep, under the names that files have for them.
RECORDS: dict[str, Shapes] = {
    "mercer.problems:Certificate": {
        "primal": "number",
        "dual": "number",
        "gap": "number",
        "relative_gap": "number",
        "kkt_violation": "number",
        "n_iter": "int",
        "status": "word",
        "criterion": "word",
        "parts": "list(@mercer.problems:Certificate)[*]",
        "rounding": "number",
    },
    "mercer.problems:DistanceFromExact": {
        "primal": "number",
        "dual": "number",
        "gap": "number",
        "relative_gap": "number",
        "kind": "word",
        "error": "number",
        "n_components": "int",
    },
    "mercer.problems.components:Components": {
        "values": "float[c]!",
        "vectors": "float[n,c]!",
        "means": "float[n]!",
        "mean": "float!",
        "trace": "float!",
    },
    "mercer.problems.preimage:LearnedMap": {
        "Z": "float[z,c]!",
        "dual": "float[z,d]!",
        "mean": "float[d]!",
        "width": "float!",
    },
    "mercer.estimators.discriminant._class_spectra:ClassSpectra": {
        "sphering": "@mercer.estimators.discriminant._sphering:Sphering !",
        "center": "float[d]!",
        "centroids": "float[k,e]!",
        "values": "float[k,e]!",
        "vectors": "float[k,e,e]!",
    },
    "mercer.estimators.discriminant._sphering:Sphering": {
        "forward": "float[d,e]!",
        "backward": "float[e,d]!",
        "log_det": "float!",
    },
    "mercer.problems.multiclass:Task": {
        "rows": "int[w] < n !",
        "sign": "float[w]!",
        "positive": "int!",
        "negative": "any",
    },
    "mercer.solvers.knots:Path": {
        "t": "float[e]!",
        "a": "float[e,w]!",
        "products": "float[e,w]!",
        "event_t": "float[v]!",
        "event_kind": "int[v]!",
        "event_index": "any",
        "status": "word!",
        "family": "@mercer.problems.path:Family !",
        "largest": "float!",
    },
    "mercer.problems.path:Family": {
        "rests": "number[w,g+1]!",
        "slopes": "number[w,g]!",
        "bias": "flag!",
        "level": "float!",
        "tilt": "float!",
        "dual": "any",
    },
    "mercer.solvers.gaussian.kriging:KrigingPosterior": {
        "system": "@mercer.solvers.factored:Factored !",
        "B": "float[n,b]!",
        "V": "float[n,b]!",
        "H": "float[n,b]!",
        "U": "float[n,b]!",
        "M": "float[b,b]!",
        "R": "float[b,b]!",
        "middle": "float[b,b]!",
    },
    "mercer.solvers.gaussian.on_features:FeaturePosterior": {
        "triangle": "float[f,f]!",
        "projected": "flag!",
    },
    "mercer.solvers.posterior:ExactPosterior": {
        "system": "@mercer.solvers.factored:Factored | @mercer.solvers.linear_algebra.packed:PackedFactored !"
    },
    "mercer.solvers.linear_algebra.packed:PackedFactored": {
        "n": "int!",
        "_packed": "float[*]!",
        "condition": "number",
    },
    "mercer.solvers.factored:Factored": {
        "_diag": "float[n]!",
        "_S": "number[n,n]!",
        "condition": "number",
    },
    "mercer.kernels:Centered": {
        "_training": "points[g,d]!",
        "_weights": "float[g]!",
        "_training_means": "float[g]!",
        "_mean": "float!",
        "_known": "none",
    },
    "mercer.kernels:Clipped": _SPECTRAL,
    "mercer.kernels:Flipped": _SPECTRAL,
    "mercer.estimators.gaussian._classification:BinaryProcess": {
        "kernel_": "kernel!",
        "theta_": "float[*]!",
        "rows_": "int[u] < n !",
        "signs_": "float[u]!",
        "mode_": "@mercer.solvers.gaussian.laplace:LaplaceMode !",
        "log_marginal_likelihood_value_": "number",
    },
    "mercer.solvers.gaussian.laplace:LaplaceMode": {
        "a": "float[u]!",
        "f": "float[u]!",
        "pi": "float[u]!",
        "root": "float[u]!",
        "L": "number[u,u]!",
        "n_iter": "int",
        "status": "word",
    },
    "mercer.structured.ragged:Ragged": {"values": "int[*]!", "offsets": "int[*]!"},
    "mercer.kernels.tuning:Tuning": {
        "kernel": "kernel!",
        "names": "list(word)[j] !",
        "start": "any",
        "limits": "any",
    },
}
