/* Registers of the Celosia accelerator: byte offsets, fields and reset values.
 * Printed from isa/registers.py by `celosia docs`; do not edit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CELOSIA_REGISTERS_H
#define CELOSIA_REGISTERS_H

#define CELOSIA_VERSION_MAJOR                        0
#define CELOSIA_VERSION_MINOR                        4
#define CELOSIA_WINDOW_BYTES                         4096
#define CELOSIA_RING_ENTRY_BYTES                     24

/* The letters "CELO". (read only) */
#define CELOSIA_IDENTITY                             0x000u
#define CELOSIA_IDENTITY_RESET                       0x43454C4Fu

/* Of this register map and the instruction set. A driver refuses another major version. (read only) */
#define CELOSIA_VERSION                              0x004u
#define CELOSIA_VERSION_RESET                        0x00000004u
#define CELOSIA_VERSION_MINOR_MASK                   0x0000FFFFu /* Counts compatible additions. */
#define CELOSIA_VERSION_MINOR_SHIFT                  0
#define CELOSIA_VERSION_MAJOR_MASK                   0xFFFF0000u /* Counts incompatible changes. */
#define CELOSIA_VERSION_MAJOR_SHIFT                  16

/* The configuration that the accelerator was built from. A driver refuses any other than the one that a program was compiled for. (read only) */
#define CELOSIA_CONFIG_ARRAY                         0x010u
#define CELOSIA_CONFIG_ARRAY_DIM_MASK                0x000000FFu /* `dim` of the configuration. */
#define CELOSIA_CONFIG_ARRAY_DIM_SHIFT               0
#define CELOSIA_CONFIG_ARRAY_SCRATCHPAD_BANKS_MASK   0x0000FF00u /* `scratchpad_banks` of the configuration. */
#define CELOSIA_CONFIG_ARRAY_SCRATCHPAD_BANKS_SHIFT  8
#define CELOSIA_CONFIG_ARRAY_ACCUMULATOR_BANKS_MASK  0x00FF0000u /* `accumulator_banks` of the configuration. */
#define CELOSIA_CONFIG_ARRAY_ACCUMULATOR_BANKS_SHIFT 16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_MEMORY                        0x014u
#define CELOSIA_CONFIG_MEMORY_SCRATCHPAD_KIB_MASK    0x0000FFFFu /* `scratchpad_kib` of the configuration. */
#define CELOSIA_CONFIG_MEMORY_SCRATCHPAD_KIB_SHIFT   0
#define CELOSIA_CONFIG_MEMORY_ACCUMULATOR_KIB_MASK   0xFFFF0000u /* `accumulator_kib` of the configuration. */
#define CELOSIA_CONFIG_MEMORY_ACCUMULATOR_KIB_SHIFT  16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_PORT                          0x018u
#define CELOSIA_CONFIG_PORT_BUS_BITS_MASK            0x0000FFFFu /* `bus_bits` of the configuration. */
#define CELOSIA_CONFIG_PORT_BUS_BITS_SHIFT           0
#define CELOSIA_CONFIG_PORT_PARAMETER_ROWS_MASK      0xFFFF0000u /* `parameter_rows` of the configuration. */
#define CELOSIA_CONFIG_PORT_PARAMETER_ROWS_SHIFT     16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_REQUESTS                      0x01Cu
#define CELOSIA_CONFIG_REQUESTS_READ_REQUESTS_MASK   0x0000FFFFu /* `read_requests` of the configuration. */
#define CELOSIA_CONFIG_REQUESTS_READ_REQUESTS_SHIFT  0
#define CELOSIA_CONFIG_REQUESTS_WRITE_REQUESTS_MASK  0xFFFF0000u /* `write_requests` of the configuration. */
#define CELOSIA_CONFIG_REQUESTS_WRITE_REQUESTS_SHIFT 16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_QUEUES                        0x020u
#define CELOSIA_CONFIG_QUEUES_LOAD_QUEUE_MASK        0x000000FFu /* `load_queue` of the configuration. */
#define CELOSIA_CONFIG_QUEUES_LOAD_QUEUE_SHIFT       0
#define CELOSIA_CONFIG_QUEUES_EXECUTE_QUEUE_MASK     0x0000FF00u /* `execute_queue` of the configuration. */
#define CELOSIA_CONFIG_QUEUES_EXECUTE_QUEUE_SHIFT    8
#define CELOSIA_CONFIG_QUEUES_STORE_QUEUE_MASK       0x00FF0000u /* `store_queue` of the configuration. */
#define CELOSIA_CONFIG_QUEUES_STORE_QUEUE_SHIFT      16
#define CELOSIA_CONFIG_QUEUES_TRANSFORM_QUEUE_MASK   0xFF000000u /* `transform_queue` of the configuration. */
#define CELOSIA_CONFIG_QUEUES_TRANSFORM_QUEUE_SHIFT  24

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_TRANSFORM                     0x024u
#define CELOSIA_CONFIG_TRANSFORM_NORMALIZATION_MASK  0x00000001u /* `normalization` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_NORMALIZATION_SHIFT 0
#define CELOSIA_CONFIG_TRANSFORM_STATISTICS_ROWS_MASK 0xFFFF0000u /* `statistics_rows` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_STATISTICS_ROWS_SHIFT 16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_LOOPS                         0x028u
#define CELOSIA_CONFIG_LOOPS_LOOP_ENTRIES_MASK       0x0000FFFFu /* `loop_entries` of the configuration. */
#define CELOSIA_CONFIG_LOOPS_LOOP_ENTRIES_SHIFT      0

/* What runs, and clearing. The clear bits act once and read as 0. (read, write) */
#define CELOSIA_CONTROL                              0x040u
#define CELOSIA_CONTROL_RESET                        0x00000000u
#define CELOSIA_CONTROL_RING_ENABLE_MASK             0x00000001u /* Commands come from the ring, not from the stream. */
#define CELOSIA_CONTROL_RING_ENABLE_SHIFT            0
#define CELOSIA_CONTROL_CLEAR_ERROR_MASK             0x00000100u /* Forget the error and everything queued: RING_HEAD becomes RING_TAIL, and what commands configured is as after reset.  Local memories keep their contents. */
#define CELOSIA_CONTROL_CLEAR_ERROR_SHIFT            8
#define CELOSIA_CONTROL_CLEAR_COUNTERS_MASK          0x00000200u /* Set all counters to 0. */
#define CELOSIA_CONTROL_CLEAR_COUNTERS_SHIFT         9

/* What happens now. (read only) */
#define CELOSIA_STATUS                               0x044u
#define CELOSIA_STATUS_RESET                         0x00000004u
#define CELOSIA_STATUS_BUSY_MASK                     0x00000001u /* Anything is queued, running or unacknowledged. */
#define CELOSIA_STATUS_BUSY_SHIFT                    0
#define CELOSIA_STATUS_ERROR_MASK                    0x00000002u /* ERROR holds a cause; commands wait for clear_error. */
#define CELOSIA_STATUS_ERROR_SHIFT                   1
#define CELOSIA_STATUS_RING_EMPTY_MASK               0x00000004u /* RING_HEAD is RING_TAIL. */
#define CELOSIA_STATUS_RING_EMPTY_SHIFT              2

/* The interrupt output is high while a bit is set here and in INTERRUPT_STATUS. (read, write) */
#define CELOSIA_INTERRUPT_ENABLE                     0x048u
#define CELOSIA_INTERRUPT_ENABLE_RESET               0x00000000u
#define CELOSIA_INTERRUPT_ENABLE_DONE_MASK           0x00000001u /* As in INTERRUPT_STATUS. */
#define CELOSIA_INTERRUPT_ENABLE_DONE_SHIFT          0
#define CELOSIA_INTERRUPT_ENABLE_ERROR_MASK          0x00000002u /* As in INTERRUPT_STATUS. */
#define CELOSIA_INTERRUPT_ENABLE_ERROR_SHIFT         1

/* What has happened since it was cleared. (read; writing 1 clears a bit) */
#define CELOSIA_INTERRUPT_STATUS                     0x04Cu
#define CELOSIA_INTERRUPT_STATUS_RESET               0x00000000u
#define CELOSIA_INTERRUPT_STATUS_DONE_MASK           0x00000001u /* Everything finished, and no commands are left. */
#define CELOSIA_INTERRUPT_STATUS_DONE_SHIFT          0
#define CELOSIA_INTERRUPT_STATUS_ERROR_MASK          0x00000002u /* An error stopped the accelerator. */
#define CELOSIA_INTERRUPT_STATUS_ERROR_SHIFT         1

/* The first error since reset or clear_error. (read only) */
#define CELOSIA_ERROR                                0x050u
#define CELOSIA_ERROR_RESET                          0x00000000u
#define CELOSIA_ERROR_CAUSE_MASK                     0x0000000Fu /* 0: none; else a cause of `isa/errors.py`. */
#define CELOSIA_ERROR_CAUSE_SHIFT                    0
#define CELOSIA_ERROR_ID_MASK                        0x00000F00u /* Whose access failed: 0 for loads and stores, 1 for the ring. */
#define CELOSIA_ERROR_ID_SHIFT                       8

/* Number, from 0 since reset or clear_error, of its command; for an error that is none's (CYCLE_BUDGET, WATCHDOG, RING_RANGE): of the command that would have come next. (read only) */
#define CELOSIA_ERROR_COMMAND                        0x054u
#define CELOSIA_ERROR_COMMAND_RESET                  0x00000000u

/* Byte address of the burst that failed, or of the ring's entry. (read only) */
#define CELOSIA_ERROR_ADDRESS_LO                     0x058u
#define CELOSIA_ERROR_ADDRESS_LO_RESET               0x00000000u

/* Its high half. (read only) */
#define CELOSIA_ERROR_ADDRESS_HI                     0x05Cu
#define CELOSIA_ERROR_ADDRESS_HI_RESET               0x00000000u

/* Busy cycles in a row after which the accelerator stops with an error; 0: no limit. (read, write) */
#define CELOSIA_CYCLE_BUDGET_LO                      0x060u
#define CELOSIA_CYCLE_BUDGET_LO_RESET                0x00000000u

/* Its high half. (read, write) */
#define CELOSIA_CYCLE_BUDGET_HI                      0x064u
#define CELOSIA_CYCLE_BUDGET_HI_RESET                0x00000000u

/* Busy cycles in a row without progress (a command accepted, a transfer on the memory port, or a row entering the array) after which the accelerator stops with an error; 0: no limit. If it waits for memory that never answers, it stays busy, and only a reset helps. (read, write) */
#define CELOSIA_WATCHDOG                             0x068u
#define CELOSIA_WATCHDOG_RESET                       0x00000000u

/* First byte that may be read. (read, write) */
#define CELOSIA_READ_BASE_LO                         0x080u
#define CELOSIA_READ_BASE_LO_RESET                   0x00000000u

/* Its high half. (read, write) */
#define CELOSIA_READ_BASE_HI                         0x084u
#define CELOSIA_READ_BASE_HI_RESET                   0x00000000u

/* Last byte that may be read. (read, write) */
#define CELOSIA_READ_LIMIT_LO                        0x088u
#define CELOSIA_READ_LIMIT_LO_RESET                  0xFFFFFFFFu

/* Its high half. (read, write) */
#define CELOSIA_READ_LIMIT_HI                        0x08Cu
#define CELOSIA_READ_LIMIT_HI_RESET                  0xFFFFFFFFu

/* First byte that may be written. (read, write) */
#define CELOSIA_WRITE_BASE_LO                        0x090u
#define CELOSIA_WRITE_BASE_LO_RESET                  0x00000000u

/* Its high half. (read, write) */
#define CELOSIA_WRITE_BASE_HI                        0x094u
#define CELOSIA_WRITE_BASE_HI_RESET                  0x00000000u

/* Last byte that may be written. (read, write) */
#define CELOSIA_WRITE_LIMIT_LO                       0x098u
#define CELOSIA_WRITE_LIMIT_LO_RESET                 0xFFFFFFFFu

/* Its high half. (read, write) */
#define CELOSIA_WRITE_LIMIT_HI                       0x09Cu
#define CELOSIA_WRITE_LIMIT_HI_RESET                 0xFFFFFFFFu

/* Byte address of ring entry 0, a multiple of 8. (read, write) */
#define CELOSIA_RING_BASE_LO                         0x0C0u
#define CELOSIA_RING_BASE_LO_RESET                   0x00000000u
#define CELOSIA_RING_BASE_LO_WORDS_MASK              0xFFFFFFF8u /* The address without its lowest bits, which are 0. */
#define CELOSIA_RING_BASE_LO_WORDS_SHIFT             3

/* Its high half. (read, write) */
#define CELOSIA_RING_BASE_HI                         0x0C4u
#define CELOSIA_RING_BASE_HI_RESET                   0x00000000u

/* Entries of the ring; entry 0 follows the last one. (read, write) */
#define CELOSIA_RING_SIZE                            0x0C8u
#define CELOSIA_RING_SIZE_RESET                      0x00000000u

/* The entry whose command is accepted next: those before it may be filled again. (read only) */
#define CELOSIA_RING_HEAD                            0x0CCu
#define CELOSIA_RING_HEAD_RESET                      0x00000000u

/* The entry behind the last command: the one that the host fills next. (read, write) */
#define CELOSIA_RING_TAIL                            0x0D0u
#define CELOSIA_RING_TAIL_RESET                      0x00000000u

/* Writing any value starts fetching, up to the RING_TAIL of this moment. Without ring_enable, nothing is fetched before it is set. (write only; reads as 0) */
#define CELOSIA_RING_DOORBELL                        0x0D4u

/* Commands of the ring that have finished, writes to memory included, in whatever order; modulo 2^32. One that stands for others counts once, when all of them have finished; in REPEATs, when the next FENCE has, or everything. clear_error does not change it. (read only) */
#define CELOSIA_RING_COMPLETED                       0x0D8u
#define CELOSIA_RING_COMPLETED_RESET                 0x00000000u

/* Operations that wait or run, to find out why a program hangs. (read only) */
#define CELOSIA_DEBUG_QUEUES                         0x100u
#define CELOSIA_DEBUG_QUEUES_RESET                   0x00000000u
#define CELOSIA_DEBUG_QUEUES_LOAD_MASK               0x000000FFu /* In the load queue. */
#define CELOSIA_DEBUG_QUEUES_LOAD_SHIFT              0
#define CELOSIA_DEBUG_QUEUES_EXECUTE_MASK            0x0000FF00u /* In the execute queue. */
#define CELOSIA_DEBUG_QUEUES_EXECUTE_SHIFT           8
#define CELOSIA_DEBUG_QUEUES_STORE_MASK              0x00FF0000u /* In the store queue. */
#define CELOSIA_DEBUG_QUEUES_STORE_SHIFT             16
#define CELOSIA_DEBUG_QUEUES_TRANSFORM_MASK          0xFF000000u /* In the transform queue. */
#define CELOSIA_DEBUG_QUEUES_TRANSFORM_SHIFT         24

/* Why the oldest operation of each queue does not start. Bits 0 to 3 of a field: for an older load, execute, store, transform; bit 4: for its controller. (read only) */
#define CELOSIA_DEBUG_WAITS                          0x104u
#define CELOSIA_DEBUG_WAITS_RESET                    0x00000000u
#define CELOSIA_DEBUG_WAITS_LOAD_MASK                0x0000001Fu /* The load queue. */
#define CELOSIA_DEBUG_WAITS_LOAD_SHIFT               0
#define CELOSIA_DEBUG_WAITS_EXECUTE_MASK             0x00001F00u /* The execute queue. */
#define CELOSIA_DEBUG_WAITS_EXECUTE_SHIFT            8
#define CELOSIA_DEBUG_WAITS_STORE_MASK               0x001F0000u /* The store queue. */
#define CELOSIA_DEBUG_WAITS_STORE_SHIFT              16
#define CELOSIA_DEBUG_WAITS_TRANSFORM_MASK           0x1F000000u /* The transform queue. */
#define CELOSIA_DEBUG_WAITS_TRANSFORM_SHIFT          24

/* Whether the oldest load waits for stores to finish, and for which (CONFIG_TOKEN). (read only) */
#define CELOSIA_DEBUG_TOKEN                          0x108u
#define CELOSIA_DEBUG_TOKEN_RESET                    0x00000000u
#define CELOSIA_DEBUG_TOKEN_WAITS_MASK               0x00000001u /* It waits for a token.  Its controller waits, too. */
#define CELOSIA_DEBUG_TOKEN_WAITS_SHIFT              0
#define CELOSIA_DEBUG_TOKEN_ID_MASK                  0x00000F00u /* The counter that it waits for, if it waits. */
#define CELOSIA_DEBUG_TOKEN_ID_SHIFT                 8

/* What that counter must hold, at least, if it waits. (read only) */
#define CELOSIA_DEBUG_TOKEN_COUNT                    0x10Cu
#define CELOSIA_DEBUG_TOKEN_COUNT_RESET              0x00000000u

/* What that counter holds, if it waits. (read only) */
#define CELOSIA_DEBUG_TOKEN_VALUE                    0x110u
#define CELOSIA_DEBUG_TOKEN_VALUE_RESET              0x00000000u

/* What the loop engine does. (read only) */
#define CELOSIA_DEBUG_LOOPS                          0x114u
#define CELOSIA_DEBUG_LOOPS_RESET                    0x00000000u
#define CELOSIA_DEBUG_LOOPS_BUSY_MASK                0x00000001u /* It holds commands, or has more of them to make. */
#define CELOSIA_DEBUG_LOOPS_BUSY_SHIFT               0
#define CELOSIA_DEBUG_LOOPS_MISSING_MASK             0xFFFF0000u /* Commands of a REPEAT's body that have not come. */
#define CELOSIA_DEBUG_LOOPS_MISSING_SHIFT            16

/* Cycles in which anything is queued, running or unacknowledged. (read only) */
#define CELOSIA_COUNTER_CYCLES_LO                    0x200u
#define CELOSIA_COUNTER_CYCLES_LO_RESET              0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_CYCLES_HI                    0x204u
#define CELOSIA_COUNTER_CYCLES_HI_RESET              0x00000000u

/* A row of A enters the array and its result is written. (read only) */
#define CELOSIA_COUNTER_ARRAY_ROWS_LO                0x208u
#define CELOSIA_COUNTER_ARRAY_ROWS_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_ROWS_HI                0x20Cu
#define CELOSIA_COUNTER_ARRAY_ROWS_HI_RESET          0x00000000u

/* A row of zeros beyond A's rows enters, because C has more rows. (read only) */
#define CELOSIA_COUNTER_ARRAY_PADDING_LO             0x210u
#define CELOSIA_COUNTER_ARRAY_PADDING_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_PADDING_HI             0x214u
#define CELOSIA_COUNTER_ARRAY_PADDING_HI_RESET       0x00000000u

/* A product waits only for its weights to move into the array. (read only) */
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_LO             0x218u
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_HI             0x21Cu
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_HI_RESET       0x00000000u

/* A row of A (or D) waits for its scratchpad bank, or takes D's turn. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_LO                 0x220u
#define CELOSIA_COUNTER_WAIT_BANK_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_HI                 0x224u
#define CELOSIA_COUNTER_WAIT_BANK_HI_RESET           0x00000000u

/* The next product waits for a load to finish. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_LO                 0x228u
#define CELOSIA_COUNTER_WAIT_LOAD_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_HI                 0x22Cu
#define CELOSIA_COUNTER_WAIT_LOAD_HI_RESET           0x00000000u

/* The next product waits for a store to have read its destination. (read only) */
#define CELOSIA_COUNTER_WAIT_STORE_LO                0x230u
#define CELOSIA_COUNTER_WAIT_STORE_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_STORE_HI                0x234u
#define CELOSIA_COUNTER_WAIT_STORE_HI_RESET          0x00000000u

/* The next product waits for the result of an earlier product. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_LO              0x238u
#define CELOSIA_COUNTER_WAIT_EXECUTE_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_HI              0x23Cu
#define CELOSIA_COUNTER_WAIT_EXECUTE_HI_RESET        0x00000000u

/* The next product waits for what a transform reads or writes. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LO            0x240u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_HI            0x244u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_HI_RESET      0x00000000u

/* The next product is on its way from the queue to the array. (read only) */
#define CELOSIA_COUNTER_WAIT_ISSUE_LO                0x248u
#define CELOSIA_COUNTER_WAIT_ISSUE_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_ISSUE_HI                0x24Cu
#define CELOSIA_COUNTER_WAIT_ISSUE_HI_RESET          0x00000000u

/* No product is queued, but commands wait at or behind the decoder. (read only) */
#define CELOSIA_COUNTER_WAIT_COMMAND_LO              0x250u
#define CELOSIA_COUNTER_WAIT_COMMAND_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_COMMAND_HI              0x254u
#define CELOSIA_COUNTER_WAIT_COMMAND_HI_RESET        0x00000000u

/* No array work is queued anywhere; loads or stores are finishing. (read only) */
#define CELOSIA_COUNTER_DRAIN_LO                     0x258u
#define CELOSIA_COUNTER_DRAIN_LO_RESET               0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_DRAIN_HI                     0x25Cu
#define CELOSIA_COUNTER_DRAIN_HI_RESET               0x00000000u

/* Commands accepted. (read only) */
#define CELOSIA_COUNTER_COMMANDS_LO                  0x260u
#define CELOSIA_COUNTER_COMMANDS_LO_RESET            0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_COMMANDS_HI                  0x264u
#define CELOSIA_COUNTER_COMMANDS_HI_RESET            0x00000000u

/* Bytes of memory that loads asked for. (read only) */
#define CELOSIA_COUNTER_READ_BYTES_LO                0x268u
#define CELOSIA_COUNTER_READ_BYTES_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BYTES_HI                0x26Cu
#define CELOSIA_COUNTER_READ_BYTES_HI_RESET          0x00000000u

/* Bytes of memory that stores wrote. (read only) */
#define CELOSIA_COUNTER_WRITE_BYTES_LO               0x270u
#define CELOSIA_COUNTER_WRITE_BYTES_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BYTES_HI               0x274u
#define CELOSIA_COUNTER_WRITE_BYTES_HI_RESET         0x00000000u

/* Beats taken from the read data channel. (read only) */
#define CELOSIA_COUNTER_READ_BEATS_LO                0x278u
#define CELOSIA_COUNTER_READ_BEATS_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BEATS_HI                0x27Cu
#define CELOSIA_COUNTER_READ_BEATS_HI_RESET          0x00000000u

/* Beats given to the write data channel. (read only) */
#define CELOSIA_COUNTER_WRITE_BEATS_LO               0x280u
#define CELOSIA_COUNTER_WRITE_BEATS_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BEATS_HI               0x284u
#define CELOSIA_COUNTER_WRITE_BEATS_HI_RESET         0x00000000u

/* Values of the field cause of ERROR. */
#define CELOSIA_CAUSE_NONE                           0 /* no error */
#define CELOSIA_CAUSE_UNKNOWN_FUNCT                  1 /* no instruction has this funct */
#define CELOSIA_CAUSE_UNSUPPORTED                    2 /* this form of the instruction is not built into this accelerator */
#define CELOSIA_CAUSE_LOCAL_RANGE                    3 /* a local address leaves the scratchpad, accumulator or parameter memory */
#define CELOSIA_CAUSE_SHAPE                          4 /* more rows or columns than the instruction can move or multiply */
#define CELOSIA_CAUSE_READ_LIMIT                     5 /* a read outside the permitted range of memory */
#define CELOSIA_CAUSE_WRITE_LIMIT                    6 /* a write outside the permitted range of memory */
#define CELOSIA_CAUSE_READ_RESPONSE                  7 /* memory answered a read with an error */
#define CELOSIA_CAUSE_WRITE_RESPONSE                 8 /* memory answered a write with an error */
#define CELOSIA_CAUSE_OVERLAP                        9 /* a destination overlaps one of the command's own operands, or its other one */
#define CELOSIA_CAUSE_CYCLE_BUDGET                   10 /* the accelerator was busy for more cycles than CYCLE_BUDGET permits */
#define CELOSIA_CAUSE_WATCHDOG                       11 /* nothing moved for as many busy cycles as WATCHDOG permits */
#define CELOSIA_CAUSE_RING_ENTRY                     12 /* an entry of the ring is no command: its second word is not 0, or its funct has too many bits */
#define CELOSIA_CAUSE_RING_RANGE                     13 /* the doorbell was rung while RING_HEAD or RING_TAIL was not below RING_SIZE */
#define CELOSIA_CAUSE_SCALE                          14 /* the scale of softmax scores is not one positive finite number */
#define CELOSIA_CAUSE_LOOP                           15 /* a REPEAT, STRIDE or PRODUCTS is not well formed */

#endif
