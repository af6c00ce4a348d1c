"""
Explanations
============

Which columns matter, how the model depends on them, and what makes up a single prediction:
permutation importance, partial dependence and Shapley values of a support vector regression on the
diabetes data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import inspect

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = make_pipeline(StandardScaler(), mercer.SVR(kernel="rbf", gamma=0.02, C=100.0)).fit(X_train, y_train)

# %%
# Shuffling a column of held-out rows shows how much the model needs it. The bars are 95 % intervals: only
# columns whose interval stays clear of zero matter beyond doubt.
importance = inspect.permutation_importance(model, X_test, y_test)
mercer.plots.importance(importance, title="Growth of the mean squared error")
plt.show()

# %%
# Partial dependence: the prediction as a function of one column, for each row and on average.
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
for ax, name in zip(axes, ("bmi", "s5"), strict=True):
    mercer.plots.partial_dependence(inspect.partial_dependence(model, X_test, name), ax=ax)
axes[0].set_ylabel("predicted progression", fontsize=9)
axes[1].set_ylabel("")
plt.show()

# %%
# The share of each column in one prediction. Shares add up to the prediction less the mean over the
# background rows; ten columns have too many orders to try them all, so shares are sampled.
row = X_test.iloc[[int(np.argmax(model.predict(X_test)))]]
shares = inspect.shapley(model, row, X_train[:60], orders=40)
mercer.plots.shapley(shares, values=row.iloc[0], title="The largest prediction")
plt.show()

# %%
# What would have to be different for a prediction of 200? Age and sex cannot change.
free = [name for name in X.columns if name not in ("age", "sex")]
print(inspect.counterfactual(model, row, X_train, to=200.0, columns=free))
