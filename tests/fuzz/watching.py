"""Running a step of an example: refusals are told from accidents, warnings of ours from those that leaked."""

import io
import time
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout

from . import discovery
from .report import frames, is_refusal, origin, short


class Refused(Exception):  # noqa: N818
    """The library refused; ``told`` if not in words, which is in the report already."""

    told = False


@contextmanager
def watched(report, name, names=()):
    """Run a step; tell refusals from failures, and warnings of ours from those that leaked."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            yield
        except Refused:
            raise
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if frames(error) and frames(error)[-1][0].startswith("tests/"):
                raise
            why = is_refusal(error, names)
            if why:
                trace = "".join(traceback.format_exception(error)[-3:])
                where = f"{type(error).__name__} at {origin(error)}"
                report.fail(
                    f"{name}: refused without words",
                    where,
                    f"{why}: {type(error).__name__}: {error}\n{trace}",
                )
            refusal = Refused(str(error))
            refusal.told = bool(why)
            raise refusal from error
        finally:
            for warning in caught:
                kind = warning.category
                home = kind.__module__.split(".")[0]
                ours = (
                    home in ("mercer", "sklearn")
                    or kind in (UserWarning, FutureWarning)
                    or _in_our_words(warning)
                )
                if not ours:
                    line = f"{short(warning.filename)}:{warning.lineno}"
                    where = f"{kind.__name__} in {short(warning.filename)}"
                    report.fail(
                        f"{name}: a warning leaked", where, f"{line}: {kind.__name__}: {warning.message}"
                    )


def _in_our_words(warning):
    """Return whether a warning of SciPy's class was given by us."""
    text = str(warning.message)
    return warning.category.__name__ == "LinAlgWarning" and not text.startswith(
        ("Ill-conditioned", "Diagonal")
    )


def fitted(fit, report, X, y, weight, what="fit", **changes):
    limit = fit.params.get("time_limit")
    data = {"X": X} | ({} if y is None else {"y": y}) | ({} if weight is None else {"sample_weight": weight})
    with watched(report, what, discovery.parameters(fit.estimator)):
        model, seconds = _timed(fit.model(**changes), data)
        if limit and seconds > 1.1 * limit + 3.0:
            model, seconds = _timed(fit.model(**changes), data)  # compiled by now
        report.fits += 1
        if limit and seconds > 1.1 * limit + 3.0:
            report.fail("a limit is kept", fit.estimator, f"time_limit={limit}: {seconds:.1f} s")
        return model


def _timed(model, data):
    """Return the fitted model and the seconds of the processor that it took."""
    start = time.process_time()
    model.fit(**data)
    return model, time.process_time() - start
