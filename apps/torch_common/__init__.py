"""Parts of the applications for PyTorch: command line, summary, checkpoints and the loop around a training.

Import torch_common.mpi before anything that imports mpi4py.MPI.
"""
