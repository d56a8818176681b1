"""What people would use in place of `assay fit`, on the same split: Extra-P, a random forest, a Gaussian process, plain
non-negative least squares."""

import contextlib
import io
import os
import warnings

import numpy as np

from parts import figure

NAMES = ("extra-p", "forest", "gauss", "nnls")


def environments():
    """Where workers are installed; what figures run inherits nothing else of ours."""
    return os.environ.get("ASSAY_ENVIRONMENTS", str(figure.BUILD / "environments"))


def arrays(points):
    x = np.array(list(points), dtype=float)
    return x, np.array([np.median(runs) for runs in points.values()])


def errors(seen, held):
    """Errors of each rival on the points held out. Factors that were seen at one level are left out for all."""
    x, y = arrays(seen)
    x_held, y_held = arrays(held)
    used = [i for i in range(x.shape[1]) if len(set(x[:, i])) > 1]
    x, x_held = x[:, used], x_held[:, used]
    find = {"extra-p": extra_p, "forest": forest, "gauss": gauss, "nnls": least_squares}
    said = {name: find[name](x, y, x_held) for name in NAMES}
    return {name: np.abs(values / y_held - 1) for name, values in said.items()}


def forest(x, y, x_held):
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(n_estimators=500, random_state=1).fit(np.log(x), np.log(y))
    return np.exp(model.predict(np.log(x_held)))


def least_squares(x, y, x_held):
    """A constant, every factor and its inverse, each with a coefficient of at least 0, by relative error."""
    from scipy.optimize import nnls

    def terms(x):
        return np.hstack([np.ones((len(x), 1)), x, 1 / x])

    size = terms(x).max(axis=0)
    found, _ = nnls(terms(x) / size / y[:, None], np.ones(len(y)))
    return terms(x_held) / size @ found


def gauss(x, y, x_held):
    """On logarithms, with a linear part: a power law is a straight line there."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    kernel = DotProduct() + ConstantKernel() * RBF(np.ones(x.shape[1])) + WhiteKernel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=3, random_state=1)
        model.fit(np.log(x), np.log(y))
    return np.exp(model.predict(np.log(x_held)))


def extra_p(x, y, x_held):
    """Its multi-parameter modeller by medians, with negative exponents allowed, as it is meant for strong scaling."""
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measure, Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator
    from extrap.modelers.multi_parameter.multi_parameter_modeler import MultiParameterModeler
    from extrap.modelers.single_parameter.basic import SingleParameterModeler

    experiment = Experiment()
    for i in range(x.shape[1]):
        experiment.add_parameter(Parameter(f"x{i}"))
    call, metric = Callpath("step"), Metric("time")
    experiment.add_callpath(call)
    experiment.add_metric(metric)
    for row, seconds in zip(x, y, strict=True):
        at = Coordinate(*row)
        experiment.add_coordinate(at)
        experiment.add_measurement(Measurement(at, call, metric, [seconds]))
    modeler = MultiParameterModeler() if x.shape[1] > 1 else SingleParameterModeler()
    single = getattr(modeler, "single_parameter_modeler", modeler)
    before = len(single.hypotheses_building_blocks)
    single.allow_negative_exponents = True
    single.use_measure = Measure.MEDIAN  # the generator sets that of the modeler around it alone
    assert len(single.hypotheses_building_blocks) > before, "Extra-P did not take up negative exponents"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        generator = ModelGenerator(experiment, modeler=modeler, use_measure=Measure.MEDIAN)
        generator.model_all()
    function = next(iter(generator.models.values())).hypothesis.function
    return np.array([float(function.evaluate(list(row))) for row in x_held])
