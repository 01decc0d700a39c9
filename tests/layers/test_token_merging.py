import numpy as np
import pytest
from keras import ops

from keras_vit.layers.token_merging import merge, regroup, sides, sizes_of, soft_matching
from tests.layers.arrays import arrays, close


def reference(tokens, keys, sizes, merged, prefix):
    """The paper's steps, token by token, on whole sequences; returns those and what met.

    As in the authors' code: places alternate from the first token on, those in front neither go
    nor are gone to, and what stays keeps its order.
    """
    count = len(tokens)
    if not merged:  # nothing changes its place
        return tokens, [[place] for place in range(count)]
    keys = keys / np.linalg.norm(keys, axis=-1, keepdims=True)
    front = set(range(prefix))
    sources = [i for i in range(0, count, 2) if i not in front]
    targets = [i for i in range(1, count, 2) if i not in front]
    edges = []
    for source in sources:
        cosines = [keys[source] @ keys[target] for target in targets]
        edges.append((max(cosines), source, targets[int(np.argmax(cosines))]))
    edges.sort(reverse=True)
    goes = {source: target for _, source, target in edges[:merged]}
    rows, members = [], []
    stay = [i for i in sources if i not in goes]
    for place in [*sorted(front), *stay, *targets]:
        meet = [place, *(source for source, target in goes.items() if target == place)]
        weights = np.array([sizes[one] for one in meet])
        rows.append((tokens[meet] * weights[:, None]).sum(0) / weights.sum())
        members.append(meet)
    return np.stack(rows), members


@pytest.mark.parametrize(
    ("count", "prefix", "merged"), [(8, 1, 3), (7, 1, 3), (9, 0, 4), (6, 2, 1)]
)
def test_against_the_papers_steps(count, prefix, merged):
    tokens, keys = arrays((2, prefix + count, 5), (2, prefix + count, 4))
    generator = np.random.default_rng(7)
    # More patches than tokens: some tokens stand for several.
    more = generator.integers(0, count, (2, 4))
    groups = np.concatenate([np.tile(np.arange(count), (2, 1)), more], axis=1).astype("int32")
    groups = ops.convert_to_tensor(groups)
    sizes = sizes_of(groups, count, "float32")
    patches = [array[:, prefix:] for array in (tokens, keys)]
    matching = soft_matching(patches[1], merged, prefix)
    found = merge(patches[0], sizes, matching, prefix)
    new_groups = ops.convert_to_numpy(regroup(groups, count, matching, prefix))
    for row in range(2):
        whole = np.concatenate([np.ones(prefix), ops.convert_to_numpy(sizes)[row]])
        rows, members = reference(
            tokens[row].astype("float64"), keys[row].astype("float64"), whole, merged, prefix
        )
        assert close(found[row], rows[prefix:])
        for patch, group in enumerate(ops.convert_to_numpy(groups)[row]):
            assert group + prefix in members[new_groups[row, patch] + prefix]


def test_sides_alternate_from_the_first_token_on():
    assert sides(196, 1) == (1, 0, 98) and sides(196, 0) == (0, 1, 98)
    assert sides(7, 1) == (1, 0, 3) and sides(7, 0) == (0, 1, 4)
