"""LOOP_WS and its relatives: commands that stand for all commands of a product of matrices."""
