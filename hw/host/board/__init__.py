"""An accelerator that is alone on a board: block RAM for its memory, a serial link for its host."""
