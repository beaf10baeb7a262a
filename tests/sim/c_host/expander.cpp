// Expands commands: expander PRESET < commands > commands, 24 bytes each, as in a ring.
#include <cstdio>
#include <cstring>

#include "loops.h"

using namespace celosia;

int main(int, char** words) {
  for (const Configuration& known : kPresets) {
    if (strcmp(known.name, words[1])) continue;
    MatmulLoop loop(known);
    Emit emit = [](const Command& made) { fwrite(&made, sizeof made, 1, stdout); };
    for (Command command; fread(&command, sizeof command, 1, stdin);) {
      if (loop.take(command, emit)) continue;
      loop.finish(emit);
      emit(command);
    }
    loop.finish(emit);
    return 0;
  }
  return 2;
}
