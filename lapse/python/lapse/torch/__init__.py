"""Embeddings of PyTorch models in tables of a parameter manager. docs/torch.md is the page for users.

Tables are no Parameters: optimizers, clipping and DistributedDataParallel never see them. A forward pulls the distinct
rows of a batch; Context.step pushes what the backward pass has gathered in them.
"""
from .context import Context
from .dense import DenseParameters
from .embedding import Embedding, EmbeddingBag
from .loader import IntentLoader
from .negatives import Negatives

__all__ = ["Context", "DenseParameters", "Embedding", "EmbeddingBag", "IntentLoader", "Negatives"]

for _class in (Context, DenseParameters, Embedding, EmbeddingBag, IntentLoader, Negatives):
    _class.__module__ = "lapse.torch"
