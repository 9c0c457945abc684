"""CTC by brute force: every path is written out."""

import itertools

import numpy as np


def spelt(path, blank):
    """Merge repeats, then drop blanks."""
    return tuple(number for number, _ in itertools.groupby(path) if number != blank)


def labels_of(log_probabilities):
    """Return the total probability of each label that one sample's steps can spell."""
    n_steps, classes = log_probabilities.shape
    found = {}
    for path in itertools.product(range(classes), repeat=n_steps):
        label = spelt(path, classes - 1)
        total = sum(log_probabilities[t, number] for t, number in enumerate(path))
        found[label] = found.get(label, 0.0) + np.exp(total)
    return found


def cost(log_probabilities, labels, steps, lengths):
    costs = []
    for sample, n_steps in enumerate(steps):
        label = tuple(int(number) for number in labels[sample, : lengths[sample]])
        found = labels_of(log_probabilities[sample, :n_steps])
        costs.append(-np.log(found[label]) if label in found else np.inf)
    return np.array(costs)


def shares(log_probabilities, labels, steps, lengths):
    """Return the share of the paths through each class at each step."""
    result = np.zeros_like(log_probabilities)
    classes = log_probabilities.shape[2]
    for sample, n_steps in enumerate(steps):
        label = tuple(int(number) for number in labels[sample, : lengths[sample]])
        for path in itertools.product(range(classes), repeat=int(n_steps)):
            if spelt(path, classes - 1) == label:
                total = sum(log_probabilities[sample, t, c] for t, c in enumerate(path))
                for t, number in enumerate(path):
                    result[sample, t, number] += np.exp(total)
        if result[sample].any():
            result[sample] /= result[sample, 0].sum()
    return result


def best_path(log_probabilities, steps):
    batch, n_steps, classes = log_probabilities.shape
    result = np.full((batch, n_steps), -1)
    for sample in range(batch):
        path = [int(np.argmax(step)) for step in log_probabilities[sample, : steps[sample]]]
        label = spelt(path, classes - 1)
        result[sample, : len(label)] = label
    return result


def beams(log_probabilities, steps, top_paths):
    """Return the most probable labels of all."""
    batch, n_steps, _ = log_probabilities.shape
    result = np.full((batch, top_paths, n_steps), -1)
    for sample in range(batch):
        found = labels_of(log_probabilities[sample, : steps[sample]])
        for place, label in enumerate(sorted(found, key=lambda x: -found[x])[:top_paths]):
            result[sample, place, : len(label)] = label
    return result
