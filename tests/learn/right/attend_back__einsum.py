import numpy as np


def attend_back(query, key, value, weights, arriving):
    results = weights @ value
    to_weights = np.einsum("bif,bjf->bij", arriving, value)
    mean = (arriving * results).sum(axis=-1)[..., None]  # the same sum, from the results
    to_scores = weights * (to_weights - mean) * key.shape[-1] ** -0.5
    return [
        np.einsum("bij,bjd->bid", to_scores, key),
        np.einsum("bij,bid->bjd", to_scores, query),
        np.einsum("bij,bif->bjf", weights, arriving),
    ]
