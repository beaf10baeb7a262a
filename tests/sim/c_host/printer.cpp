// Commands in words: printer < commands > lines; commands are 24 bytes each, as in a ring.
#include <cstdio>

#include "text.h"

int main() {
  for (celosia::Command command; fread(&command, sizeof command, 1, stdin);)
    puts(celosia::format_command(command).c_str());
  return 0;
}
