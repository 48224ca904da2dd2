"""lapse.torch: modules beside those of torch, and what they refuse."""
import warnings

from torch_support import DIM, KEYS, OPTIONS, WORLD, filled, weights_of

import numpy
import torch

import lapse
import lapse.torch as lt
from support import refused


def train_beside(make_ours, make_theirs, forward, optimizer):
    """Trains a module and its twin of torch on rank 0, and compares rows and results."""
    weights = weights_of()
    with lt.Context(WORLD, OPTIONS) as ctx:
        ours = make_ours(ctx)
        theirs = make_theirs(weights.clone())
        with ctx.phase() as worker:
            filled(ctx, ours, weights)
            if worker.index == 0:
                steps = optimizer(theirs.parameters())
                random = torch.Generator().manual_seed(1)
                for step in range(5):
                    results = [forward(module, torch.Generator().manual_seed(step)) for module in (ours, theirs)]
                    torch.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-6)
                    target = torch.randn(results[0].shape, generator=random)
                    for result in results:
                        (result * target).sum().backward()
                    ctx.step()
                    steps.step()
                    steps.zero_grad()
                after = ours.rows(torch.arange(KEYS))
                torch.testing.assert_close(after, theirs.weight.detach(), rtol=1e-5, atol=1e-6)
            worker.barrier()


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


def test_equal_to_nn_embedding():
    for shape in ((7,), (4, 3), (0,), ()):
        train_beside(lambda ctx: lt.Embedding(ctx, "rows", KEYS, DIM, rule="sgd", learning_rate=0.1),
                     lambda weights: torch.nn.Embedding(KEYS, DIM, _weight=weights),
                     lambda module, random: module(torch.randint(KEYS, shape, generator=random)), sgd)


def test_two_forwards_and_accumulated_batches():
    def twice(module, random):
        first = module(torch.randint(KEYS, (9,), generator=random))
        return first + module(torch.randint(KEYS, (9,), generator=random))
    train_beside(lambda ctx: lt.Embedding(ctx, "rows", KEYS, DIM, rule="sgd", learning_rate=0.1),
                 lambda weights: torch.nn.Embedding(KEYS, DIM, _weight=weights), twice, sgd)
    weights = weights_of()
    ids = torch.randint(KEYS, (4, 64), generator=torch.Generator().manual_seed(3))
    with lt.Context(WORLD, OPTIONS) as ctx:
        parts = lt.Embedding(ctx, "parts", KEYS, DIM, rule="adagrad", learning_rate=0.1)
        whole = lt.Embedding(ctx, "whole", KEYS, DIM, rule="adagrad", learning_rate=0.1)
        with ctx.phase() as worker:
            filled(ctx, parts, weights)
            filled(ctx, whole, weights)
            if worker.index == 0:
                for part in ids:
                    parts(part).pow(2).sum().backward()
                whole(ids).pow(2).sum().backward()
                ctx.step()
                torch.testing.assert_close(parts.rows(torch.arange(KEYS)), whole.rows(torch.arange(KEYS)))
                assert not torch.equal(parts.rows(torch.arange(KEYS)), weights)
            worker.barrier()


def test_padding():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", KEYS, DIM, rule="sgd", learning_rate=0.1, padding_idx=-1)
        bags = lt.EmbeddingBag(ctx, "bags", KEYS, DIM, rule="sgd", learning_rate=0.1, padding_idx=0, mode="mean")
        assert rows.padding_idx == KEYS - 1
        refused(lapse.ConfigurationError, "padding_idx", lt.Embedding, ctx, "wrong", KEYS, DIM, padding_idx=KEYS)
        with ctx.phase() as worker:
            filled(ctx, rows, weights_of())
            filled(ctx, bags, weights_of())
            ids = torch.tensor([[KEYS - 1, 2], [5, KEYS - 1]])
            result = rows(ids)
            assert torch.equal(result[0, 0], torch.zeros(DIM)) and torch.equal(result[0, 1], weights_of()[2])
            only = rows(torch.tensor([KEYS - 1]))
            worker.barrier()
            (result.sum() + only.sum()).backward()
            ctx.step()
            worker.barrier()
            result = bags(torch.tensor([[0, 4], [0, 0], [7, 9]]))
            torch.testing.assert_close(result[0], weights_of()[4])
            assert torch.equal(result[1], torch.zeros(DIM))
            result.sum().backward()
            ctx.zero_grad()
            worker.sync_barrier()
            count = worker.count
            expected = weights_of()
            expected[[2, 5]] -= 0.1 * count
            torch.testing.assert_close(rows.rows(torch.arange(KEYS - 1)), expected[:-1])
            worker.barrier()


def test_bags():
    offsets = torch.tensor([0, 3, 3, 8])
    flat = torch.tensor([1, 2, 2, 9, 8, 1, 0, 4, 39, 38])
    factors = torch.rand(10, generator=torch.Generator().manual_seed(2))
    for mode in ("sum", "mean"):
        train_beside(lambda ctx: lt.EmbeddingBag(ctx, "bags", KEYS, DIM, mode=mode, rule="sgd", learning_rate=0.1),
                     lambda weights: torch.nn.EmbeddingBag(KEYS, DIM, mode=mode, _weight=weights),
                     lambda module, random: module(flat, offsets), sgd)
        train_beside(lambda ctx: lt.EmbeddingBag(ctx, "bags", KEYS, DIM, mode=mode, rule="sgd", learning_rate=0.1),
                     lambda weights: torch.nn.EmbeddingBag(KEYS, DIM, mode=mode, _weight=weights),
                     lambda module, random: module(flat.reshape(5, 2)), sgd)
    train_beside(lambda ctx: lt.EmbeddingBag(ctx, "bags", KEYS, DIM, rule="adagrad", learning_rate=0.1),
                 lambda weights: torch.nn.EmbeddingBag(KEYS, DIM, mode="sum", _weight=weights),
                 lambda module, random: module(flat, offsets, per_sample_weights=factors),
                 lambda parameters: torch.optim.Adagrad(parameters, lr=0.1))
    with lt.Context(WORLD, OPTIONS) as ctx:
        bags = lt.EmbeddingBag(ctx, "bags", KEYS, DIM, mode="mean")
        refused(lapse.ConfigurationError, "mode", lt.EmbeddingBag, ctx, "wrong", KEYS, DIM, mode="max")
        with ctx.phase() as worker:
            refused(lapse.ConfigurationError, "offsets", bags, flat)
            refused(lapse.ConfigurationError, "offsets", bags, flat.reshape(5, 2), offsets)
            refused(lapse.ConfigurationError, "mode sum", bags, flat, offsets, factors)
            assert bags(torch.empty(0, dtype=torch.int64), torch.tensor([0, 0])).shape == (2, DIM)
            worker.barrier()


def test_reading_makes_no_keys():
    with lt.Context(WORLD, OPTIONS) as ctx:
        any_key = lt.Embedding(ctx, "any", None, DIM, rule="sgd", learning_rate=1.0, initial=0.5)
        large = torch.tensor([2**40, 7, 2**62])
        with ctx.phase() as worker:
            any_key.eval()
            assert torch.equal(any_key(large), torch.full((3, DIM), 0.5)) and not any_key(large).requires_grad
            any_key.train()
            with torch.no_grad():
                any_key(large)
            any_key.requires_grad_(False)
            any_key(large)
            any_key.requires_grad_(True)
            ctx.step()
            worker.barrier()
        counted = ctx.manager.memory_use(any_key.table)
        with ctx.phase() as worker:
            any_key(large).sum().backward()
            ctx.step()
            worker.sync_barrier()
            torch.testing.assert_close(any_key.rows(large), torch.full((3, DIM), 0.5 - worker.count))
            worker.barrier()
        assert WORLD.allreduce(ctx.manager.memory_use(any_key.table).values) > WORLD.allreduce(counted.values)


def test_schedules_and_clipping():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", KEYS, 1, rule="sgd", learning_rate=1.0, initial=0.0)
        other = lt.Embedding(ctx, "other", KEYS, 1, rule="sgd", learning_rate=1.0, initial=0.0)
        with ctx.phase() as worker:
            if worker.index == 0:
                def step(**named):
                    (3 * rows(torch.tensor([1])).sum() + 4 * other(torch.tensor([1])).sum()).backward()
                    norm = ctx.step(**named)
                    return norm, float(rows.rows([1])), float(other.rows([1]))
                assert step(scale=0.5) == (None, -1.5, -2.0)
                other.scale = 0.25
                assert step(scale={rows: 2.0}) == (None, -7.5, -3.0)
                other.scale = 1.0
                norm, first, second = step(max_norm=1.0)
                numpy.testing.assert_allclose((norm, first, second), (5.0, -8.1, -3.8), rtol=1e-5)
            worker.barrier()


def test_types():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", KEYS, DIM, rule="sgd", learning_rate=0.1, out_dtype=torch.bfloat16)
        refused(lapse.ConfigurationError, "out_dtype", lt.Embedding, ctx, "wrong", KEYS, DIM, out_dtype=torch.int64)
        plain = torch.nn.Sequential(torch.nn.Linear(2, 2), rows)
        assert [name for name, _ in plain.named_parameters()] == ["0.weight", "0.bias"]
        state = plain.state_dict()
        assert state["1._extra_state"] == {"table": "rows", "num_embeddings": KEYS, "embedding_dim": DIM}
        plain.load_state_dict(state)
        refused((lapse.ConfigurationError, RuntimeError), "rows", rows.set_extra_state, {"table": "others"})
        refused(lapse.UsageError, "no phase", rows, torch.tensor([1]))
        with ctx.phase() as worker:
            filled(ctx, rows, weights_of())
            result = rows(torch.tensor([1, 2], dtype=torch.int32))
            assert result.dtype == torch.bfloat16
            result.float().sum().backward()
            ctx.step()
            refused(TypeError, "expected integers", rows, torch.tensor([1.0]))
            refused(lapse.KeyOutOfRange, "", rows, torch.tensor([KEYS]))
            refused(lapse.KeyOutOfRange, "", rows, torch.tensor([-1]))
            gapped = torch.arange(KEYS)[::2]
            assert rows(gapped).shape == (KEYS // 2, DIM)
            ctx.zero_grad()
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                rows(torch.tensor([1]))
                rows(torch.tensor([1]))
                ctx.step()
                assert len(warned) == 1 and "without a backward" in str(warned[0].message)
            worker.barrier()


def test_several_modules_at_once():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", KEYS, DIM)
        bags = lt.EmbeddingBag(ctx, "bags", KEYS, DIM)
        fused = lt.Embedding(ctx, "fused", KEYS, 1, rule="sgd", learning_rate=1.0, initial=0.0, fused=True)
        with ctx.phase() as worker:
            ids = torch.tensor([[1, 2], [3, 4]])
            one, two = ctx.lookup((rows, ids), (bags, ids))
            assert one.shape == (2, 2, DIM) and torch.equal(two.detach(), bags.rows(ids).sum(1))
            worker.barrier()
            (one.sum() + two.sum()).backward()
            ctx.step()
            fused(torch.tensor([worker.index])).sum().backward()
            assert fused.rows([worker.index]).item() == -1
            worker.barrier()
