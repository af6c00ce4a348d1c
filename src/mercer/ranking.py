"""Measures of rankings, each the mean over queries: what :class:`mercer.RankSVM` is judged by."""

from mercer.estimators.ranking._metrics import kendall_tau, mean_average_precision, ndcg, pair_accuracy

__all__ = ["kendall_tau", "mean_average_precision", "ndcg", "pair_accuracy"]


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
