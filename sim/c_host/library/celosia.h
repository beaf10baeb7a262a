/* The Celosia accelerator, simulated inside of a C or C++ program.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   #include <celosia.h>              cc program.c -Iinclude -Llib -lcelosia -Wl,-rpath,lib
 *
 *   int8_t from[16], to[16];
 *   celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(16, 0), 16);     how MVIN moves
 *   celosia_cmd(CELOSIA_MVIN, (uintptr_t)from, celosia_tile(0, 16, 1));
 *   ...
 *   celosia_fence();                                               now it is all in memory
 *
 * Memory of the accelerator is that of the program: addresses are pointers, to the heap, to static
 * data or to the stack.  It touches those bytes only that commands name (it reads whole beats of
 * its bus around them, which are always on the same page).  What a command names must stay as it is
 * until the next celosia_fence: commands run in the background, as long as there are newer ones.
 *
 * Time is simulated.  It passes while a command is handed over (at least a cycle, more when the
 * accelerator's queues are full), while celosia_fence waits, and while COUNTER is answered; the
 * program itself takes none.
 *
 * Environment variables are read when the accelerator is opened:
 *
 *   CELOSIA_SIM      verilator: the RTL, cycle by cycle; there is no other
 *   CELOSIA_PRESET   configuration, one of those that the library was built with
 *   CELOSIA_WAVE     file.vcd: all signals of the RTL (of a library built with --wave)
 *   CELOSIA_JSON     file, or - for standard error: statistics, written when it is closed
 *
 * A command that breaks a rule, an address at which the process has no memory, or an accelerator
 * that hangs end the process: what happened, the command that did it, the last commands and who
 * waits for whom go to standard error, and the exit code is 1.
 *
 * One thread at a time may call these functions.  There is one accelerator in a process.
 */
#ifndef CELOSIA_HOST_H
#define CELOSIA_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functs of the most frequent commands; docs/isa.md has all of them and their fields. */
enum {
  CELOSIA_CONFIG = 0,
  CELOSIA_MVIN2 = 1,
  CELOSIA_MVIN = 2,
  CELOSIA_MVOUT = 3,
  CELOSIA_COMPUTE_PRELOADED = 4,
  CELOSIA_COMPUTE_ACCUMULATED = 5,
  CELOSIA_PRELOAD = 6,
  CELOSIA_FLUSH = 7,
  CELOSIA_LOOP_WS = 8,
  CELOSIA_MVIN3 = 14,
  CELOSIA_LOOP_CONV_WS = 15,
  CELOSIA_COUNTER = 126
};

/* Hands a command over, as Gemmini's custom instruction with this funct7 does: returns as soon as
 * the accelerator has taken it or is about to.  Opens the accelerator if nobody has.
 * LOOP_WS (8 to 13) and LOOP_CONV_WS (15 to 21) become the commands that they stand for.
 * Returns the answer of COUNTER (126), and 0 for every other command. */
uint64_t celosia_cmd(uint32_t funct7, uint64_t rs1, uint64_t rs2);

/* Returns when every command has ended and memory has acknowledged all that they write.
 * Opens the accelerator if nobody has. */
void celosia_fence(void);

/* Cycles of the accelerator's clock since it was opened; 0 while it is closed. */
uint64_t celosia_cycles(void);

/* Opens a simulator, with an accelerator of a preset in its state after power-on; a null pointer
 * stands for the environment's choice.  Returns 0; or 1 if there is no such simulator or preset or
 * it cannot be opened (which standard error explains), or one is open already. */
int celosia_open(const char *sim, const char *preset);

/* Waits for all commands to end, writes CELOSIA_JSON and the waveform, and gives everything back.
 * Nothing happens when nothing is open.  Called at the end of the process if nobody else has. */
void celosia_close(void);

/* Operand with a local address, columns and rows: rs2 of MVIN and MVOUT, both of PRELOAD and of
 * COMPUTE.  `local` is a row of the scratchpad, or of the accumulator with CELOSIA_ACCUMULATOR. */
static inline uint64_t celosia_tile(uint32_t local, unsigned cols, unsigned rows) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | local;
}

/* Bits of a local address, and the address that stands for no data or no destination. */
#define CELOSIA_ACCUMULATOR 0x80000000u /* A row of the accumulator. */
#define CELOSIA_ACCUMULATE 0xC0000000u  /* The same, and what is written is added. */
#define CELOSIA_FULL 0xA0000000u        /* The same, and MVOUT writes int32 as they are. */
#define CELOSIA_GARBAGE 0xFFFFFFFFu

/* The bits of a float, as commands carry scales. */
static inline uint32_t celosia_bits(float value) {
  union {
    float value;
    uint32_t bits;
  } both;
  both.value = value;
  return both.bits;
}

/* rs1 of CONFIG_EX: weight-stationary, or output-stationary; rows of A and C one behind the other.
 * rs2 is 1 << 48, the stride of C, plus the shift of output-stationary results. */
static inline uint64_t celosia_config_ex(int weight_stationary, int transpose_a, int transpose_b) {
  return (uint64_t)0x3F800000u << 32 | (uint64_t)1 << 16 | (uint64_t)(transpose_b != 0) << 9 |
         (uint64_t)(transpose_a != 0) << 8 | (uint64_t)(weight_stationary != 0) << 2;
}

/* rs1 of CONFIG_LD for MVIN (set 0), MVIN2 (1) or MVIN3 (2): scale 1, blocks of columns
 * `block_stride` local rows apart (usually DIM).  rs2: bytes from one row in memory to the next. */
static inline uint64_t celosia_config_ld(unsigned block_stride, unsigned set) {
  return (uint64_t)0x3F800000u << 32 | (uint64_t)block_stride << 16 | (uint64_t)1 << 8 |
         (uint64_t)set << 3 | 1;
}

/* rs1 of CONFIG_ST without pooling; activation 0: none, 1: ReLU.  rs2: celosia_store below. */
static inline uint64_t celosia_config_st(unsigned activation) {
  return (uint64_t)activation << 2 | 2;
}

/* rs2 of CONFIG_ST: bytes from one row in memory to the next, and the scale of int8 results. */
static inline uint64_t celosia_store(uint32_t stride, float scale) {
  return (uint64_t)celosia_bits(scale) << 32 | stride;
}

#ifdef __cplusplus
}
#endif

#endif
