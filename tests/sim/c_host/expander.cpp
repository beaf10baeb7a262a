// Expands commands: expander PRESET < commands > commands, 24 bytes each, as in a ring.
#include <cstdio>
#include <cstring>

#include "repeat.h"

using namespace celosia;

int main(int, char** words) {
  for (const Configuration& known : kPresets) {
    if (strcmp(known.name, words[1])) continue;
    RepeatLoop repeat(known);
    MatmulLoop loop(known);
    Emit emit = [](const Command& made) { fwrite(&made, sizeof made, 1, stdout); };
    // What a REPEAT issues may be LOOP_WS where the accelerator has both.
    Emit issue = [&](const Command& made) {
      if (known.loop_ws && loop.take(made, emit)) return;
      loop.finish(emit);
      emit(made);
    };
    for (Command command; fread(&command, sizeof command, 1, stdin);) {
      if (repeat.take(command, issue) || loop.take(command, emit)) continue;
      loop.finish(emit);
      emit(command);
    }
    loop.finish(emit);
    return 0;
  }
  return 2;
}
