"""The lowering of a graph to a program: work block by block, with places in local memories."""
