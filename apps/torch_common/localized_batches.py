"""Batches whose keys are localized ahead, for the technique localize, which does not act on intents."""

AHEAD = 4  # batches, as in the other applications


def localized(worker, batches, keys_of):
    """Yields the batches. keys_of: {module: function}, as of lapse.torch.IntentLoader; the keys of each batch are localized when it is
    fetched, so fetch it AHEAD batches before its turn: as the source of an IntentLoader with this look-ahead."""
    for batch in batches:
        for module, ids_of in keys_of.items():
            keys = module.distinct_keys(ids_of(batch))
            if len(keys):
                worker.localize_async(module.table, keys)
        yield batch
