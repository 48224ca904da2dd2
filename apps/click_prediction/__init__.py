"""Wide & Deep for click prediction: see docs/click-prediction.md."""
import torch_common.mpi  # Before anything that imports mpi4py.MPI or torch.
