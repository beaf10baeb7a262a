#!/bin/sh
# Draws docs/images/wave.png: what GTKWave shows of `make wave`, without a screen.
# Debian packages gtkwave, xvfb and fonts-dejavu-core.
set -eu
folder=build/wave
cat > "$folder/picture.tcl" <<TCL
gtkwave::/Time/Zoom/Zoom_Best_Fit
gtkwave::/File/Grab_To_File docs/images/wave.png
gtkwave::/File/Quit
TCL
xvfb-run --auto-servernum --server-args="-screen 0 1600x900x24" \
	gtkwave --dump "$folder/matmul.vcd" --save "$folder/matmul.gtkw" --script "$folder/picture.tcl" \
	> "$folder/picture.log" 2>&1 || { cat "$folder/picture.log" >&2; exit 1; }
