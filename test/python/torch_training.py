"""lapse.torch: loaders, dense parameters and checkpoints."""
import copy

from torch_support import DIM, FOLDER, KEYS, OPTIONS, WORLD, filled, weights_of

import torch

import lapse
import lapse.torch as lt
from support import refused


class Net(torch.nn.Module):
    def __init__(self, items):
        super().__init__()
        self.items = items
        self.out = torch.nn.Linear(DIM, 1)

    def forward(self, ids):
        return self.out(self.items(ids).mean(1)).squeeze(1)


def test_loader():
    with lt.Context(WORLD, OPTIONS) as ctx:
        items = lt.Embedding(ctx, "items", KEYS, DIM)
        negatives = lt.Negatives(items, 5, "log_uniform", seed=3)
        refused(lapse.ConfigurationError, "ahead", lt.IntentLoader, ctx, [], {}, 0)
        # Ranks have uneven numbers of batches.
        own = [torch.tensor([[i % KEYS, (i * 7) % KEYS]]) for i in range(10 + 5 * ctx.rank)]
        loader = lt.IntentLoader(ctx, own, {items: lambda batch: batch}, 4, negatives=[negatives], epochs=3)
        assert len(loader) == len(own)
        for phase in range(2):
            with ctx.phase() as worker:
                for epoch in range(2 - phase):
                    begun = worker.clock
                    seen = []
                    for batch in loader:
                        ids, rows = negatives()
                        assert ids.shape == (5,) and rows.shape == (5, DIM)
                        (items(batch).sum() + rows.sum()).backward()
                        ctx.step()
                        seen.append(batch)
                    assert len(seen) == len(own) and all(torch.equal(a, b) for a, b in zip(seen, own))
                    assert worker.clock == begun + len(own)
                if phase == 1:
                    assert not list(loader)
                worker.barrier()
        statistics = ctx.manager.statistics()
        assert statistics["intents"]["total"]["intents"] > 0
        with ctx.phase() as worker:
            again = lt.IntentLoader(ctx, own, {items: lambda batch: batch}, 50)
            for _ in again:
                break
            assert len(list(again)) == len(own)
            assert len(list(lt.IntentLoader(ctx, iter(own), {items: lambda batch: batch}, 3))) == len(own)
            assert list(lt.IntentLoader(ctx, [], {}, 3)) == []
            processes = torch.utils.data.DataLoader(torch.arange(30).reshape(15, 2), batch_size=4, num_workers=2)
            for _ in range(2):
                assert sum(len(batch) for batch in lt.IntentLoader(ctx, processes, {items: lambda batch: batch}, 3)) == 15
            worker.barrier()


def test_dense_parameters():
    torch.manual_seed(0)
    with lt.Context(WORLD, OPTIONS) as ctx:
        items = lt.Embedding(ctx, "items", KEYS, DIM, rule="sgd", learning_rate=0.1)
        models = {}
        plain = Net(items)

        def train(worker):
            model = models[worker.local_index] = copy.deepcopy(plain)
            assert model.items is not items and model.items.table is items.table
            if worker.index == 1:
                torch.nn.init.zeros_(model.out.weight)
            ctx.broadcast(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            random = torch.Generator().manual_seed(worker.index)
            for _ in range(5):
                model(torch.randint(KEYS, (8, 3), generator=random)).pow(2).sum().backward()
                ctx.average_gradients(model)
                optimizer.step()
                optimizer.zero_grad()
                ctx.step()
        ctx.run(2, train)
        of_all = WORLD.allgather([parameter.detach().numpy() for model in models.values() for parameter in model.parameters()])
        first = of_all[0][:2]
        for values in of_all:
            for at, value in enumerate(values):
                assert (value == first[at % 2]).all()
        assert not (first[0] == plain.out.weight.detach().numpy()).all()


def test_dense_parameters_in_a_table():
    model = torch.nn.Linear(40, 40)
    with lt.Context(WORLD, OPTIONS) as ctx:
        refused(lapse.ConfigurationError, "no Parameters", lt.DenseParameters, ctx, "none", torch.nn.ReLU())
        dense = lt.DenseParameters(ctx, "dense", model, rule="sgd", learning_rate=0.5, chunk=100)
        with ctx.phase() as worker:
            if worker.index == 0:
                torch.nn.init.ones_(model.weight)
                torch.nn.init.zeros_(model.bias)
                dense.initialise(model)
            worker.sync_barrier()
            dense.pull(model)
            assert model.weight.eq(1).all() and model.bias.eq(0).all()
            worker.barrier()
            model(torch.ones(1, 40)).sum().backward()
            dense.announce(worker.clock, worker.clock + 1)
            dense.push(model)
            worker.sync_barrier()
            dense.pull(model)
            assert model.weight.eq(1 - 0.5 * worker.count).all() and model.bias.eq(-0.5 * worker.count).all()
            worker.barrier()


def test_checkpoints():
    weights = weights_of()
    for turn in range(2):
        with lt.Context(WORLD, OPTIONS) as ctx:
            rows = lt.Embedding(ctx, "rows", KEYS, DIM)
            net = Net(rows)
            if turn == 0:
                refused(lapse.CheckpointError, "no whole checkpoint", ctx.load, FOLDER)
                with ctx.phase():
                    filled(ctx, rows, weights)
                torch.nn.init.constant_(net.out.weight, 3)
                ctx.save(FOLDER, 7, {"model": net.state_dict()})
            else:
                step, state = ctx.load(FOLDER)
                assert step == 7
                net.load_state_dict(state["model"])
                assert net.out.weight.eq(3).all()
                with ctx.phase() as worker:
                    assert torch.equal(rows.rows(torch.arange(KEYS)), weights)
                    worker.barrier()
