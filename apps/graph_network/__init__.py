"""Classifies the nodes of a graph by a graph network on lapse.torch. docs/graph-network.md is the page for users."""
