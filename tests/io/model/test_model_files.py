"""Model files: every estimator comes back deciding bit for bit as before."""

import base64
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from file_samples import assert_same_answers, data, estimators, fitted
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import mercer
from mercer.io import ModelFileError, dumps, fingerprint, inspect, loads, read_model, verify
from mercer.io.model import loading
from mercer.io.model.safetensors_file import PROTOCOL, pack, unpack
from mercer.kernels import RBF, Centered, Kernel, Linear, Matern, Polynomial

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_estimator_comes_back_bit_for_bit(cls, tmp_path):
    model, X = fitted(cls)
    again = mercer.load(mercer.save(model, tmp_path / "model"))
    assert type(again) is cls
    assert_same_answers(model, again, X)
    assert vars(again).keys() == vars(model).keys()
    assert str(getattr(again, "certificate_", None)) == str(getattr(model, "certificate_", None))
    assert dumps(again) == dumps(model), "saving what was loaded gives another file"


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_pickle_keeps_working(cls):
    model, X = fitted(cls)
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), X)


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": RBF(0.5) + 2 * Linear() * Matern(nu=2.5)},
        {"kernel": Polynomial(degree=2).normalized().on([0, 2])},
        {"kernel": RBF(np.array([0.1, 0.2, 0.3, 0.4])).on(slice(None))},
        {"kernel": RBF(0.3).centered()},
        {"probability": True, "random_state": np.random.RandomState(3)},
        {"multiclass": "ovr", "C": np.inf, "kernel": RBF(50.0)},
        {"class_weight": {0: 1.0, 1: 2.0, 2: np.float64(0.5)}, "trace": True},
        {"kernel": "sigmoid", "gamma": 0.1, "tol": 0.1},
    ],
    ids=lambda p: ",".join(p),
)
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_parameters_and_kernels_come_back(params):
    X, targets = data()
    model = mercer.SVC(**params).fit(X, targets["three"])
    again = loads(dumps(model)).model
    assert_same_answers(model, again, X)
    assert again.kernel_ == model.kernel_
    ours = {k: v for k, v in model.get_params().items() if k != "random_state"}
    theirs = {k: v for k, v in again.get_params().items() if k != "random_state"}
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "float32", "fortran"])
def test_the_kind_of_the_data_is_kept(kind):
    X, targets = data()
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    X = {"float32": X.astype(np.float32), "fortran": np.asfortranarray(X)}.get(kind, X)
    X = getattr(sp, kind)(X) if kind.startswith("csr") else X
    model = mercer.SVC().fit(X, targets["three"])
    again = loads(dumps(model)).model
    assert type(again.support_vectors_) is type(model.support_vectors_)
    assert again.support_vectors_.dtype == model.support_vectors_.dtype
    assert_same_answers(model, again, X)


def test_labels_of_any_kind_come_back():
    X, targets = data()
    for names in (["a", "bé", "c"], [True, False], [1.0, 2.0, 30.0], np.array(["x", "yy"], dtype=object)):
        y = np.asarray(names)[targets["three"] % len(names)]
        model = mercer.SVC().fit(X, y)
        again = loads(dumps(model)).model
        assert again.classes_.dtype == model.classes_.dtype
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


class Halved(Kernel):
    """A kernel class of the user's own."""

    def __init__(self, factor=0.5):
        self.factor = factor

    def evaluate(self, X, Z=None):
        Z = X if Z is None else Z
        return self.factor * np.asarray(X) @ np.asarray(Z).T


def test_a_users_function_is_named_in_the_file_and_handed_over():
    words = ["cat", "tack", "dog", "god", "act", "good"] * 3
    y = [0, 0, 1, 1, 0, 1] * 3
    model = mercer.SVC(kernel=mercer.kernel(psd=True)(shared_letters)).fit(words, y)
    content = dumps(model)
    assert b"shared_letters" in content
    with pytest.raises(ModelFileError, match=r"kernels=\{'shared_letters': shared_letters\}"):
        loads(content)
    for given in (shared_letters, mercer.kernel(shared_letters)):
        again = loads(content, kernels={"shared_letters": given}).model
        np.testing.assert_array_equal(again.decision_function(words), model.decision_function(words))
    with pytest.raises(ModelFileError, match="must be the function"):
        loads(content, kernels={"shared_letters": "no function"})


def test_a_users_kernel_class_is_handed_over():
    X, targets = data()
    model = mercer.SVR(kernel=Halved(0.25)).fit(X, targets["real"])
    again = loads(dumps(model), kernels={"Halved": Halved}).model
    assert again.kernel_ == Halved(0.25)
    assert_same_answers(model, again, X)
    with pytest.raises(ModelFileError, match="must be the class"):
        loads(dumps(model), kernels={"Halved": shared_letters})


def test_a_matrix_function_is_handed_over():
    def product(A, B):
        return A @ B.T

    X, targets = data()
    model = mercer.SVC(kernel=product).fit(X, targets["two"])
    assert_same_answers(model, loads(dumps(model), kernels={"product": product}).model, X)


@pytest.mark.filterwarnings("ignore:.*not positive semi-definite.*")
def test_a_function_without_a_name_is_refused():
    X, targets = data()
    model = mercer.SVC(kernel=lambda A, B: A @ B.T).fit(X, targets["two"])
    with pytest.raises(ModelFileError, match="write it with def"):
        dumps(model)


PREPARATIONS = [
    StandardScaler(),
    MinMaxScaler(clip=True),
    RobustScaler(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=20),
    KBinsDiscretizer(n_bins=3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    PolynomialFeatures(2),
    SimpleImputer(strategy="median", add_indicator=True),
    FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]),
    ColumnTransformer(
        [("scaled", StandardScaler(), [0, 1]), ("kept", "passthrough", slice(2, 3))], remainder="drop"
    ),
    ColumnTransformer(
        [("c", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [3])], remainder="passthrough"
    ),
    ColumnTransformer([("o", OrdinalEncoder(), [0]), ("m", SimpleImputer(), [1, 2])]),
    FunctionTransformer(),
]


@pytest.mark.parametrize("step", PREPARATIONS, ids=lambda step: type(step).__name__)
def test_pipelines_of_listed_transformers_come_back(step):
    X, targets = data()
    X = np.round(X, 1)
    model = make_pipeline(step, mercer.SVC(probability=True)).fit(X, targets["three"])
    again = loads(dumps(model)).model
    assert_same_answers(model, again, X)
    assert again.get_params().keys() == model.get_params().keys()


def test_other_estimators_functions_and_folders_are_refused_by_name(tmp_path):
    X, targets = data()
    y = targets["two"]
    with pytest.raises(ModelFileError, match=r"SGDClassifier.*not on the list"):
        dumps(SGDClassifier(random_state=0).fit(X, y))
    kept = make_pipeline(StandardScaler(), mercer.SVC(), memory=str(tmp_path)).fit(X, y)
    with pytest.raises(ModelFileError, match="memory names a folder"):
        dumps(kept)
    model = mercer.SVC().fit(X, y)
    model.open_file_ = open
    with pytest.raises(ModelFileError, match="not in the file"):
        loads(dumps(model))
    model.open_file_ = object()
    with pytest.raises(ModelFileError, match=r"SVC.open_file_ is a builtins.object"):
        dumps(model)
    with pytest.raises(TypeError, match="fitted estimator"):
        dumps("a model")


def test_column_selectors_come_back():
    selector = make_column_selector(pattern="^x", dtype_include=np.float64)
    step = ColumnTransformer([("a", StandardScaler(), [0])])
    X, targets = data()
    model = make_pipeline(step, mercer.SVC()).fit(X, targets["two"])
    model.steps[0][1].transformers = [("a", StandardScaler(), selector)]
    again = loads(dumps(model)).model
    assert vars(again.steps[0][1].transformers[0][2]) == vars(selector)


def test_the_description_says_what_the_file_holds(tmp_path):
    X, targets = data()
    y = np.array(["no", "yes"])[(targets["two"] > 0).astype(int)]
    model = make_pipeline(StandardScaler(), mercer.SVC(kernel=RBF(0.5))).fit(X, y)
    path = mercer.save(model, tmp_path / "m.mercer", X=X, y=y)
    known = inspect(path)
    assert known["protocol"] == PROTOCOL
    assert known["versions"]["mercer"] == mercer.__version__
    assert known["summary"]["estimator"] == "SVC"
    assert known["summary"]["kernel"] == "RBF(gamma=0.5)"
    assert known["summary"]["classes"] == ["no", "yes"]
    assert known["summary"]["n_features"] == 4
    assert "proved within" in known["summary"]["certificate"]
    file = read_model(path)
    assert file.training.rows == 60
    assert file.training.features == fingerprint(X)


def test_a_file_is_replaced_at_once_or_not_at_all(tmp_path):
    X, targets = data()
    model = mercer.SVC().fit(X, targets["two"])
    path = mercer.save(model, tmp_path / "m")
    before = path.read_bytes()
    model.broken_ = object()
    with pytest.raises(ModelFileError):
        mercer.save(model, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


# -- proof ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD"])
def test_a_certificate_is_verified_from_file_and_data_alone(name):
    X, targets = data()
    y = {"SVR": targets["real"], "NuSVR": targets["real"]}.get(name, targets["two"])
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    model = getattr(mercer, name)(tol=1e-5, **({"nu": 0.3} if "Nu" in name else {}))
    model.fit(X, y, sample_weight=weight)
    file = loads(dumps(model, X=X, y=y, sample_weight=weight))
    outcome = verify(file, X, y)
    assert outcome.holds, outcome.problems
    assert outcome.same_data is True
    other = X.copy()
    other[3, 1] += 0.5
    outcome = verify(file, other, y)
    assert not outcome.holds
    assert outcome.same_data is False


def test_a_false_claim_is_found_out():
    X, targets = data()
    y = targets["two"]
    model = mercer.SVC().fit(X, y)
    honest = loads(dumps(model, X=X, y=y))
    assert verify(honest, X, y).holds
    model.dual_coef_ = model.dual_coef_ * 0.9
    outcome = verify(loads(dumps(model, X=X, y=y)), X, y)
    assert not outcome.holds
    assert any("dual" in p or "primal" in p for p in outcome.problems)


def test_verification_goes_through_a_pipeline():
    X, targets = data()
    model = make_pipeline(StandardScaler(), mercer.SVC()).fit(X, targets["two"])
    assert verify(loads(dumps(model, X=X, y=targets["two"])), X, targets["two"]).holds


def test_fingerprints_depend_on_values_only():
    X, _ = data()
    X = np.where(np.abs(X) > 0.7, X, 0.0).astype(np.float32)
    assert (
        fingerprint(X)
        == fingerprint(X.astype(np.float64))
        == fingerprint(sp.csr_matrix(X))
        == fingerprint(X.tolist())
    )
    assert fingerprint(np.asfortranarray(X)) == fingerprint(X)
    assert fingerprint(X) != fingerprint(X[::-1])
    assert fingerprint(["a", "b"]) == fingerprint(np.array(["a", "b"]))
    assert fingerprint(["a", "b"]) != fingerprint(["ab", ""])
    assert fingerprint([[1, 2], [3]]) != fingerprint([[1], [2, 3]])


# -- protocols --------------------------------------------------------------------------------------------


def test_newer_protocols_are_refused_and_older_ones_upgraded(monkeypatch):
    model, X = fitted(mercer.SVC)
    content = dumps(model)
    description, tensors = unpack(content)
    description["protocol"] = PROTOCOL + 1
    with pytest.raises(ModelFileError, match="install a newer one"):
        loads(pack(description, tensors))

    monkeypatch.setattr("mercer.io.model.safetensors_file.PROTOCOL", PROTOCOL + 1)
    monkeypatch.setattr(loading, "PROTOCOL", PROTOCOL + 1)
    monkeypatch.setitem(loading.UPGRADES, PROTOCOL, lambda old: {**old, "needs": old["needs"]})
    file = loads(content)
    assert file.protocol == PROTOCOL
    assert_same_answers(model, file.model, X)


def test_a_file_of_protocol_1_still_loads():
    file = loads(base64.b85decode(PROTOCOL_1))
    assert file.protocol == 1
    np.testing.assert_array_equal(file.model.predict([[0.0], [1.0]]), ["a", "b"])
    np.testing.assert_allclose(file.model.decision_function([[0.0], [1.0]]), [-1.0, 1.0], atol=1e-12)
    assert file.training.rows == 2
    assert json.dumps(file.summary["classes"]) == '["a", "b"]'


def test_centred_kernels_keep_their_data():
    X, targets = data()
    model = mercer.SVR(kernel=RBF(0.5).centered()).fit(X, targets["real"])
    again = loads(dumps(model)).model
    assert isinstance(again.kernel_, Centered)
    assert again.kernel_.is_resolved


PROTOCOL_1 = (
    "$O`}f00000dm>+7ZDn*}WMOn+Utc0Rdm?RRa${w3AZ>4CWo#lkA~88+VPR%uVly*iVKQc9F=l3DFk)mjGdMLcHaIk7VmCQAG%{p3"
    "VL4(mWH&N3GB7waHf1+qFgal~Fkv=jG+b_bTq1CCZ**^CZ){v5Ix#F<B6ekRb7^mGb6g@idt4%IWpZO>a$F)hTp}<oF)lD%A}m}Y"
    "aCvlSZ*E*7I$R<%E-^7KH(VktTq16DZE$&9B05|mGA=YOHe4bsTq1L0X>fU5B05|mF)lGTE-_ppEL<XUV`*z?bS-RUVRCL<B05|m"
    "F)leSF<c^jEL<XUb!}~7a(P@LI(u9qYiVv|Tp~JLB4lY}bX+1VTq0?7Wo>g@B05`JTq0$2bZKp2bZ>H8A}m}YQ&vM<B3&$7Tq0{_"
    "a&Bd8Tp}!7B1~y+WnpqCDO@65EL&V6V{Bn_b7gZ}A}m{6B4J!2EL<XDTq0dvEL&V6ZeM0)VRUtJWpi92EHPayTU;V;UvqVEaBp&S"
    "Tp}zoT`XH%B4cH8bZKU3V_|e<Tp}!7B5!bXX>DO_Iv{XzZ+2y5Aa`kWXlZUBFd!u$Z)PBLXk{Q`Wpi{OaBp*SX<}?;Tq0dveJore"
    "Ze?X;b6g@idwnciB6M<LX>Mt5XIvsWdt4%GX>Md(B05|ma%E$0a%5a0EL<XEY+-YATp~JLB5h@IV`XwKX>Trca$#w1X>MmaRB~Zy"
    "ZfS03Tp}!7B4%l2Y-Dp>B076qB64qcb6g@iGAvvoW@TY?b#i5MTp~JLB4lD>VPrKpVm4$lH8o^5WH~lsH)A$8G&43ZVmLD~IAJj|"
    "WHK~1VKg{7Gc_`0Gcq+cI5S~mG&wY6IA&uxFkB)mTq1N~a%W|9Tp~JLA~$9?Gi75mGG;htH(@nmHe_ZuFgP(cW->8mFg9T}G-EL~"
    "HDWYlVm350V`O1tVKHSnVKZVgWnwd9V>C2jFkB)mTq1X6X=iA3b6g@iZgp&IeSIukB5iMEWo%p`I(u9qYiVv|Tp~JLB4u-QX>DP2"
    "Z*p8BEL<XEY+-YATp~JLB5h@IV`XwWQ&vM<A}m}YaA9&`ZF5{AI(u9qLtG*{F)%JLEL<XDa%Ev_Uvz0@b6g@iW?^h|Wh`7GV_{=x"
    "WnXh?dSzT9Ix;XYEL<XEY+-YAUw36`XJ~X>B06q$Y-}uCB4cl5W-weLIxsFUEL<XEa%psBa%pdFTp~JLB5P}OTp}!7B4lM_X>)0B"
    "ZeM0~Zew(5Z*E_6Xkl<=Tp~JLB5!tbTp}!7B4lM}a%E*)B04iHTq0&^bYE$1bY*g5WpH#{B06+(b!9AEB4=T3ZDCv@I$R=iV_|G%"
    "Tp}!7B5P%GZe?s-B05|mY-w&~VRBp|EL<XNZ*y~8B05|mXlZU|Wn3aGTq12@cwcFBWpZ31IxR6QTq13CY;<X3Y+-YATp~JLB5!tY"
    "Tp}!7B5q%5Z(?&?B06q$Y-}uCB5!VAX>N37a&mQWbX+1jTq1H|X>(;<A}m}YaB^j1X>)0BZd@WdTq0q0bZ=ZDEL<XRa&KZ`Vrgt?"
    "ba`ANI%Z*Pb7d@CB64AFWN&R>b97;JWn3aUZgp&IEL<XUXmV+8YiVw0Tp~Jja&=`aTq1LCY<6XGTp~JLB4KrOZ(JfQTq1O7ZDn6<"
    "X>DnATp~Jdb!==bTq1ODY+NEbF=Z_<IV@ZvbaG*1Wn3aUW?^h|Wh`7Gc4cy6Z*yf_B06SaY;$ESTq1X2a&2F8bYXIITp~JVVQh0{"
    "eJoreb97;JWn3aUdt4%JUuI=tbairNb6;t0UtA(OF)UmnV{Bn_b7ga1Tp~JqTq0{}Ze&~{I$R=jWq5R4A}m}YbY*UHZ*p8BI$R=Q"
    "FkB*iEL<XEY+-YAUw36`XJ~X^Tp~JqTq0{}Ze&~{I$R=Qa&lpLTp}!7B6MYLb8m87B05|mVKH1HeJoreYh`k7Wo%zuB076qB5P@G"
    "WLzRTTq1U1Y;|Q^A}m}YV{Bn_b6g@iTq12{a${w3E^B3SZe?t9I!tM9Wnpq$A}m}YaA9&`ZF5{AI(vOATq1LHVRU6&B0770eJore"
    "b7*03WnX4#bYEN|I(u9qYiVv|Tp~JLB6M|dY-L;`EL<XKbY*RGTp~JKGAuD&eJoreUuR)$ZDCv@IxsFUEL<XOVRC0_ZeLs?IxsFZ"
    "EL<XUb#QQRa&%u@B076qB5P@GWLzRTTq0p|a$$K~A}m}YbY*UHZ*p8BI$R=QGF&2kEL<XFbzy8@V{c_<UtA(Odt4%GX>Md(B05|m"
    "VRCX|d0ZkaTq1O3ZgX#PTp~JLB4IOJB7H1eB42J_b9HcVZ*p{8B076qB5P@GWLzRTTq0p|a$$K~A}m}YbY*UHZ*p8BI$R=QG+ZKm"
    "EL<XKZggdGV`Xr3UtA(Odt4%GX>Md(B05|mVRCX|d0ZkaTq1O3ZgX#PTp~JLB4IULB7H1eB6D?caBp&SUv_0<bZ>HVUtA(Odt4%G"
    "X>Md(B05|mVRCX|d0ZkaTq1O3ZgX#PTp~JLB4IXMB7H1eB4cH8bZKU3V_|e<UtA(Odt4%GX>Md(B05|ma%E$0a%5a0EL<XEY+-YA"
    "Tp~JLB5h@IV`XwKaB^>AY-Me8Izwf0bZKU3V_|e<Tp}!7B4%l2Y-Dp>B076qB5-nPZDDL&B04fIFf3dmWOZR|Tp~I$E-)-yB4=T6"
    "Tp~I!E-)-yB64MHVRUJBWnX7ua9kofFfK4GTq0|0bYFI9Z){<7X>V>^B04ZGFf3dmZeMA1WpZ31Ix#F<B6D<MbaiuFB05|mZ*X*J"
    "ZDDL&A}m}YV{&P9WpZh6Zd@WdTq0|0bX+1VTq1B`a&&WCB076qB5P@GWLzRTTq1OJaBO8<A}m}YX>?_6b6g@iTYFq0YiVv|Tp~JL"
    "B64M8Z*pW@A}m}YV{Bn_b6g@iTq12{a${w3E^u;hVr*q?b2>w1a&&2CX=7n@Wn3aGTq0&^Wo%?~Tp~JqTq1CCX>DO_Tp~I$E-)-y"
    "B4l-8Y+NEbGA=MITq0*-a9kofFfK4GTq1I1Y+-b1c4c2@VQ^d`IxsFUEL<XMYjj_BX>V*{bZKvHTp~I!E-)-yB5q%4bY*f}B04cF"
    "Tq1LHVRUtKTp~JLB5!bXX>DO_Tp}!7B4cuCbY*gBZ*E*7I$R=aYjj*9EL<XRVRCeHTp~JqTq0{}Ze&~{I$R=jb#QEDTp}!7B58DG"
    "ZF5{AI$K?ReSKYheSIukB5q%4bY*g1Tp~JqTq0{}Ze&~{I$R=Qa&lpLTp}!7B6MYLb8m87B05|mVK-bNeJoreW@&U^b97;Jb#q@_"
    "B04aAeSIQ*EFxhsB075_WOR9OWg<EvMm97eEFyDgVQ^(4I$JVbEFxrKbYWj_W@d9`baNs)TQDp!HeG!zB4INkI(s5yba`-PB03^Q"
    "HZ&qEB6DbAaAhJoTQMv$T`VGGVRT_%Z)Rq5Wpr~QI$JR|EHg4)eJmnjH6l8DB4l)VaAhJoB1SeeA}k_vXkl<=B05_!T`VGGVRT_%"
    "Z)Rq5Wpr~QI$JX`EHp4(eJmnjHX=HEB4l)VaAhJoB1SeeA}k_vXkl<=B05_#EHPayB4lB7VP9`%W^-k9b0RuhG%zeRHeG!zB4IEh"
    "I(s5yba`-PB03^fGcqD9B6DbAaAhJoTQV#$T`VGGVRT_%Z)Rq5Wpr~QI$Je1EH*S<eJmnjG9o&AB4l)VaAhJoB1tncA}k_vXkl<="
    "B05_#T`VGGVRT_%Z)Rq5Wpr~QI$Jh0EH^S;eJmnjG$J~CB4l)VaAhJoB1tncA}k_vXkl<=B05_#T`VGGVRT_%Z)Rq5Wpr~QI$Jj~"
    "EI2S-eJmnjHzGQFB4l)VaAhJoB1tncA}k_vXkl<=B05_!T`VGGVRT_%Z)Rq5Wpr~QI$Jm}EI2e>eSIJx00000008hm00000008hm"
    "000000002M000000000$00000008j6000000000000000008hmVE_OCVgLXD000000RR910RR910RR910RR91"
)
