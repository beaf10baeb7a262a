/* Registers of the Celosia accelerator: byte offsets, fields and reset values.
 * Printed from isa/registers/map.py by `celosia docs`; do not edit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CELOSIA_REGISTERS_H
#define CELOSIA_REGISTERS_H

#define CELOSIA_VERSION_MAJOR                        0
#define CELOSIA_VERSION_MINOR                        5
#define CELOSIA_WINDOW_BYTES                         4096
#define CELOSIA_RING_ENTRY_BYTES                     24

/* The letters "CELO". (read only) */
#define CELOSIA_IDENTITY                             0x000u
#define CELOSIA_IDENTITY_RESET                       0x43454C4Fu

/* Of this register map and the instruction set. A driver refuses another major version. (read only) */
#define CELOSIA_VERSION                              0x004u
#define CELOSIA_VERSION_RESET                        0x00000005u
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
#define CELOSIA_CONFIG_TRANSFORM_CONVOLUTION_MASK    0x00000002u /* `convolution` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_CONVOLUTION_SHIFT   1
#define CELOSIA_CONFIG_TRANSFORM_DATAFLOW_MASK       0x0000000Cu /* `dataflow` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_DATAFLOW_SHIFT      2
#define CELOSIA_CONFIG_TRANSFORM_BERT_MASK           0x00000010u /* `bert` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_BERT_SHIFT          4
#define CELOSIA_CONFIG_TRANSFORM_LOOP_WS_MASK        0x00000020u /* `loop_ws` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_LOOP_WS_SHIFT       5
#define CELOSIA_CONFIG_TRANSFORM_VECTOR_LANES_MASK   0x0000FF00u /* `vector_lanes` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_VECTOR_LANES_SHIFT  8
#define CELOSIA_CONFIG_TRANSFORM_STATISTICS_ROWS_MASK 0xFFFF0000u /* `statistics_rows` of the configuration. */
#define CELOSIA_CONFIG_TRANSFORM_STATISTICS_ROWS_SHIFT 16

/* More of the configuration. (read only) */
#define CELOSIA_CONFIG_LOOPS                         0x028u
#define CELOSIA_CONFIG_LOOPS_LOOP_ENTRIES_MASK       0x0000FFFFu /* `loop_entries` of the configuration. */
#define CELOSIA_CONFIG_LOOPS_LOOP_ENTRIES_SHIFT      0
#define CELOSIA_CONFIG_LOOPS_SCALE_BITS_MASK         0x001F0000u /* `scale_bits` of the configuration. */
#define CELOSIA_CONFIG_LOOPS_SCALE_BITS_SHIFT        16
#define CELOSIA_CONFIG_LOOPS_INT4_PAIRS_MASK         0x00200000u /* `int4_pairs` of the configuration. */
#define CELOSIA_CONFIG_LOOPS_INT4_PAIRS_SHIFT        21

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
#define CELOSIA_ERROR_CAUSE_MASK                     0x0000000Fu /* 0: none; else of `isa/registers/errors.py`. */
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

/* Commands accepted. (read only) */
#define CELOSIA_COUNTER_COMMANDS_LO                  0x208u
#define CELOSIA_COUNTER_COMMANDS_LO_RESET            0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_COMMANDS_HI                  0x20Cu
#define CELOSIA_COUNTER_COMMANDS_HI_RESET            0x00000000u

/* Bytes of memory that loads asked for. (read only) */
#define CELOSIA_COUNTER_READ_BYTES_LO                0x210u
#define CELOSIA_COUNTER_READ_BYTES_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BYTES_HI                0x214u
#define CELOSIA_COUNTER_READ_BYTES_HI_RESET          0x00000000u

/* Bytes of memory that stores wrote. (read only) */
#define CELOSIA_COUNTER_WRITE_BYTES_LO               0x218u
#define CELOSIA_COUNTER_WRITE_BYTES_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BYTES_HI               0x21Cu
#define CELOSIA_COUNTER_WRITE_BYTES_HI_RESET         0x00000000u

/* Beats taken from the read data channel. (read only) */
#define CELOSIA_COUNTER_READ_BEATS_LO                0x220u
#define CELOSIA_COUNTER_READ_BEATS_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BEATS_HI                0x224u
#define CELOSIA_COUNTER_READ_BEATS_HI_RESET          0x00000000u

/* Beats given to the write data channel. (read only) */
#define CELOSIA_COUNTER_WRITE_BEATS_LO               0x228u
#define CELOSIA_COUNTER_WRITE_BEATS_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BEATS_HI               0x22Cu
#define CELOSIA_COUNTER_WRITE_BEATS_HI_RESET         0x00000000u

/* A row of A enters the array and its result is written. (read only) */
#define CELOSIA_COUNTER_ARRAY_ROWS_LO                0x230u
#define CELOSIA_COUNTER_ARRAY_ROWS_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_ROWS_HI                0x234u
#define CELOSIA_COUNTER_ARRAY_ROWS_HI_RESET          0x00000000u

/* A row of zeros beyond A's rows enters, because C has more rows. (read only) */
#define CELOSIA_COUNTER_ARRAY_PADDING_LO             0x238u
#define CELOSIA_COUNTER_ARRAY_PADDING_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_PADDING_HI             0x23Cu
#define CELOSIA_COUNTER_ARRAY_PADDING_HI_RESET       0x00000000u

/* A product waits only for its weights to move into the array. (read only) */
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_LO             0x240u
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_HI             0x244u
#define CELOSIA_COUNTER_ARRAY_WEIGHTS_HI_RESET       0x00000000u

/* A row of D is read, and its row of A only after it. (read only) */
#define CELOSIA_COUNTER_ARRAY_D_LO                   0x248u
#define CELOSIA_COUNTER_ARRAY_D_LO_RESET             0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_ARRAY_D_HI                   0x24Cu
#define CELOSIA_COUNTER_ARRAY_D_HI_RESET             0x00000000u

/* A row of A or D waits for a bank that reads weights. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_WEIGHTS_LO         0x250u
#define CELOSIA_COUNTER_WAIT_BANK_WEIGHTS_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_WEIGHTS_HI         0x254u
#define CELOSIA_COUNTER_WAIT_BANK_WEIGHTS_HI_RESET   0x00000000u

/* A row or weights wait for results of products that go to the scratchpad, or the load that the next product waits for does for results that go to its bank. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_RESULTS_LO         0x258u
#define CELOSIA_COUNTER_WAIT_BANK_RESULTS_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_RESULTS_HI         0x25Cu
#define CELOSIA_COUNTER_WAIT_BANK_RESULTS_HI_RESET   0x00000000u

/* The load that the next product waits for waits for a bank that serves transforms. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_TRANSFORM_LO       0x260u
#define CELOSIA_COUNTER_WAIT_BANK_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_TRANSFORM_HI       0x264u
#define CELOSIA_COUNTER_WAIT_BANK_TRANSFORM_HI_RESET 0x00000000u

/* The load that the next product waits for waits for a bank that serves stores. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_STORE_LO           0x268u
#define CELOSIA_COUNTER_WAIT_BANK_STORE_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_BANK_STORE_HI           0x26Cu
#define CELOSIA_COUNTER_WAIT_BANK_STORE_HI_RESET     0x00000000u

/* The next product waits for a load, whose data memory has not begun to send. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_LATENCY_LO         0x270u
#define CELOSIA_COUNTER_WAIT_LOAD_LATENCY_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_LATENCY_HI         0x274u
#define CELOSIA_COUNTER_WAIT_LOAD_LATENCY_HI_RESET   0x00000000u

/* The next product waits for a load, whose data arrive as fast as memory sends them. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_BANDWIDTH_LO       0x278u
#define CELOSIA_COUNTER_WAIT_LOAD_BANDWIDTH_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_BANDWIDTH_HI       0x27Cu
#define CELOSIA_COUNTER_WAIT_LOAD_BANDWIDTH_HI_RESET 0x00000000u

/* The next product waits for a load, whose request went out late: too many were in flight. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_REQUESTS_LO        0x280u
#define CELOSIA_COUNTER_WAIT_LOAD_REQUESTS_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_REQUESTS_HI        0x284u
#define CELOSIA_COUNTER_WAIT_LOAD_REQUESTS_HI_RESET  0x00000000u

/* The next product waits for a load that passes the stages of the load path. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_STAGES_LO          0x288u
#define CELOSIA_COUNTER_WAIT_LOAD_STAGES_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_STAGES_HI          0x28Cu
#define CELOSIA_COUNTER_WAIT_LOAD_STAGES_HI_RESET    0x00000000u

/* The next product waits for a load that waits for stores by a token. (read only) */
#define CELOSIA_COUNTER_WAIT_TOKEN_LO                0x290u
#define CELOSIA_COUNTER_WAIT_TOKEN_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_TOKEN_HI                0x294u
#define CELOSIA_COUNTER_WAIT_TOKEN_HI_RESET          0x00000000u

/* The next product waits for a store to have read rows of the accumulator that it writes. (read only) */
#define CELOSIA_COUNTER_WAIT_ACCUMULATOR_LO          0x298u
#define CELOSIA_COUNTER_WAIT_ACCUMULATOR_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_ACCUMULATOR_HI          0x29Cu
#define CELOSIA_COUNTER_WAIT_ACCUMULATOR_HI_RESET    0x00000000u

/* The next product waits for a TRANSFORM of REQUANTIZE. (read only) */
#define CELOSIA_COUNTER_WAIT_REQUANTIZE_LO           0x2A0u
#define CELOSIA_COUNTER_WAIT_REQUANTIZE_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_REQUANTIZE_HI           0x2A4u
#define CELOSIA_COUNTER_WAIT_REQUANTIZE_HI_RESET     0x00000000u

/* The next product waits for a TRANSFORM of MAXIMUM. (read only) */
#define CELOSIA_COUNTER_WAIT_MAXIMUM_LO              0x2A8u
#define CELOSIA_COUNTER_WAIT_MAXIMUM_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_MAXIMUM_HI              0x2ACu
#define CELOSIA_COUNTER_WAIT_MAXIMUM_HI_RESET        0x00000000u

/* The next product waits for a TRANSFORM of EXPONENT. (read only) */
#define CELOSIA_COUNTER_WAIT_EXPONENT_LO             0x2B0u
#define CELOSIA_COUNTER_WAIT_EXPONENT_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_EXPONENT_HI             0x2B4u
#define CELOSIA_COUNTER_WAIT_EXPONENT_HI_RESET       0x00000000u

/* The next product waits for a TRANSFORM of SUM. (read only) */
#define CELOSIA_COUNTER_WAIT_SUM_LO                  0x2B8u
#define CELOSIA_COUNTER_WAIT_SUM_LO_RESET            0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_SUM_HI                  0x2BCu
#define CELOSIA_COUNTER_WAIT_SUM_HI_RESET            0x00000000u

/* The next product waits for a TRANSFORM of PROBABILITY. (read only) */
#define CELOSIA_COUNTER_WAIT_PROBABILITY_LO          0x2C0u
#define CELOSIA_COUNTER_WAIT_PROBABILITY_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_PROBABILITY_HI          0x2C4u
#define CELOSIA_COUNTER_WAIT_PROBABILITY_HI_RESET    0x00000000u

/* The next product waits for a TRANSFORM of CONTEXT. (read only) */
#define CELOSIA_COUNTER_WAIT_CONTEXT_LO              0x2C8u
#define CELOSIA_COUNTER_WAIT_CONTEXT_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_CONTEXT_HI              0x2CCu
#define CELOSIA_COUNTER_WAIT_CONTEXT_HI_RESET        0x00000000u

/* The next product waits for a TRANSFORM of GELU. (read only) */
#define CELOSIA_COUNTER_WAIT_GELU_LO                 0x2D0u
#define CELOSIA_COUNTER_WAIT_GELU_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_GELU_HI                 0x2D4u
#define CELOSIA_COUNTER_WAIT_GELU_HI_RESET           0x00000000u

/* The next product waits for a TRANSFORM of RESIDUAL. (read only) */
#define CELOSIA_COUNTER_WAIT_RESIDUAL_LO             0x2D8u
#define CELOSIA_COUNTER_WAIT_RESIDUAL_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_RESIDUAL_HI             0x2DCu
#define CELOSIA_COUNTER_WAIT_RESIDUAL_HI_RESET       0x00000000u

/* The next product waits for a TRANSFORM of MOMENTS. (read only) */
#define CELOSIA_COUNTER_WAIT_MOMENTS_LO              0x2E0u
#define CELOSIA_COUNTER_WAIT_MOMENTS_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_MOMENTS_HI              0x2E4u
#define CELOSIA_COUNTER_WAIT_MOMENTS_HI_RESET        0x00000000u

/* The next product waits for a TRANSFORM of LAYERNORM. (read only) */
#define CELOSIA_COUNTER_WAIT_LAYERNORM_LO            0x2E8u
#define CELOSIA_COUNTER_WAIT_LAYERNORM_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LAYERNORM_HI            0x2ECu
#define CELOSIA_COUNTER_WAIT_LAYERNORM_HI_RESET      0x00000000u

/* The next product waits for a TRANSFORM of SILU. (read only) */
#define CELOSIA_COUNTER_WAIT_SILU_LO                 0x2F0u
#define CELOSIA_COUNTER_WAIT_SILU_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_SILU_HI                 0x2F4u
#define CELOSIA_COUNTER_WAIT_SILU_HI_RESET           0x00000000u

/* The next product waits for a TRANSFORM of MULTIPLY. (read only) */
#define CELOSIA_COUNTER_WAIT_MULTIPLY_LO             0x2F8u
#define CELOSIA_COUNTER_WAIT_MULTIPLY_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_MULTIPLY_HI             0x2FCu
#define CELOSIA_COUNTER_WAIT_MULTIPLY_HI_RESET       0x00000000u

/* The next product waits for a TRANSFORM of ROTATE. (read only) */
#define CELOSIA_COUNTER_WAIT_ROTATE_LO               0x300u
#define CELOSIA_COUNTER_WAIT_ROTATE_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_ROTATE_HI               0x304u
#define CELOSIA_COUNTER_WAIT_ROTATE_HI_RESET         0x00000000u

/* The next product waits for a TRANSFORM of HARDSWISH. (read only) */
#define CELOSIA_COUNTER_WAIT_HARDSWISH_LO            0x308u
#define CELOSIA_COUNTER_WAIT_HARDSWISH_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_HARDSWISH_HI            0x30Cu
#define CELOSIA_COUNTER_WAIT_HARDSWISH_HI_RESET      0x00000000u

/* The next product waits for a TRANSFORM of DITHERED_EXPONENT. (read only) */
#define CELOSIA_COUNTER_WAIT_DITHERED_EXPONENT_LO    0x310u
#define CELOSIA_COUNTER_WAIT_DITHERED_EXPONENT_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_DITHERED_EXPONENT_HI    0x314u
#define CELOSIA_COUNTER_WAIT_DITHERED_EXPONENT_HI_RESET 0x00000000u

/* The next product waits for the result of an earlier product in the scratchpad. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_EXECUTE_LO      0x318u
#define CELOSIA_COUNTER_WAIT_EXECUTE_EXECUTE_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_EXECUTE_HI      0x31Cu
#define CELOSIA_COUNTER_WAIT_EXECUTE_EXECUTE_HI_RESET 0x00000000u

/* The next product waits for a store to have read rows of the scratchpad that it writes. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_STORE_LO        0x320u
#define CELOSIA_COUNTER_WAIT_EXECUTE_STORE_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_EXECUTE_STORE_HI        0x324u
#define CELOSIA_COUNTER_WAIT_EXECUTE_STORE_HI_RESET  0x00000000u

/* The next product waits for a load, and that for an earlier product. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_EXECUTE_LO         0x328u
#define CELOSIA_COUNTER_WAIT_LOAD_EXECUTE_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_EXECUTE_HI         0x32Cu
#define CELOSIA_COUNTER_WAIT_LOAD_EXECUTE_HI_RESET   0x00000000u

/* The next product waits for a load, and that for a store. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_STORE_LO           0x330u
#define CELOSIA_COUNTER_WAIT_LOAD_STORE_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_STORE_HI           0x334u
#define CELOSIA_COUNTER_WAIT_LOAD_STORE_HI_RESET     0x00000000u

/* The next product waits for a load, and that for a transform. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_TRANSFORM_LO       0x338u
#define CELOSIA_COUNTER_WAIT_LOAD_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_LOAD_TRANSFORM_HI       0x33Cu
#define CELOSIA_COUNTER_WAIT_LOAD_TRANSFORM_HI_RESET 0x00000000u

/* The next product waits for a transform, and that for a load. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LOAD_LO       0x340u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LOAD_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LOAD_HI       0x344u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_LOAD_HI_RESET 0x00000000u

/* The next product waits for a transform, and that for an earlier product. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_EXECUTE_LO    0x348u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_EXECUTE_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_EXECUTE_HI    0x34Cu
#define CELOSIA_COUNTER_WAIT_TRANSFORM_EXECUTE_HI_RESET 0x00000000u

/* The next product waits for a transform, and that for a store. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_STORE_LO      0x350u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_STORE_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_TRANSFORM_STORE_HI      0x354u
#define CELOSIA_COUNTER_WAIT_TRANSFORM_STORE_HI_RESET 0x00000000u

/* The next product is on its way from the queue to the array. (read only) */
#define CELOSIA_COUNTER_WAIT_ISSUE_LO                0x358u
#define CELOSIA_COUNTER_WAIT_ISSUE_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_ISSUE_HI                0x35Cu
#define CELOSIA_COUNTER_WAIT_ISSUE_HI_RESET          0x00000000u

/* No product is queued: the next command waits for a place in the queue of loads. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_LOAD_LO           0x360u
#define CELOSIA_COUNTER_WAIT_QUEUE_LOAD_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_LOAD_HI           0x364u
#define CELOSIA_COUNTER_WAIT_QUEUE_LOAD_HI_RESET     0x00000000u

/* No product is queued: the next one waits for a place, until the results of one are there. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_EXECUTE_LO        0x368u
#define CELOSIA_COUNTER_WAIT_QUEUE_EXECUTE_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_EXECUTE_HI        0x36Cu
#define CELOSIA_COUNTER_WAIT_QUEUE_EXECUTE_HI_RESET  0x00000000u

/* No product is queued: the next command waits for a place in the queue of stores. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_STORE_LO          0x370u
#define CELOSIA_COUNTER_WAIT_QUEUE_STORE_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_STORE_HI          0x374u
#define CELOSIA_COUNTER_WAIT_QUEUE_STORE_HI_RESET    0x00000000u

/* No product is queued: the next command waits for a place in the queue of transforms. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_TRANSFORM_LO      0x378u
#define CELOSIA_COUNTER_WAIT_QUEUE_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_QUEUE_TRANSFORM_HI      0x37Cu
#define CELOSIA_COUNTER_WAIT_QUEUE_TRANSFORM_HI_RESET 0x00000000u

/* No product is queued: a FENCE, or a command that breaks a rule, waits for all before it. (read only) */
#define CELOSIA_COUNTER_WAIT_FENCE_LO                0x380u
#define CELOSIA_COUNTER_WAIT_FENCE_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_FENCE_HI                0x384u
#define CELOSIA_COUNTER_WAIT_FENCE_HI_RESET          0x00000000u

/* No product is queued; commands are on their way to the queues. (read only) */
#define CELOSIA_COUNTER_WAIT_COMMAND_LO              0x388u
#define CELOSIA_COUNTER_WAIT_COMMAND_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WAIT_COMMAND_HI              0x38Cu
#define CELOSIA_COUNTER_WAIT_COMMAND_HI_RESET        0x00000000u

/* No array work is queued anywhere; loads, stores or transforms are finishing. (read only) */
#define CELOSIA_COUNTER_DRAIN_LO                     0x390u
#define CELOSIA_COUNTER_DRAIN_LO_RESET               0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_DRAIN_HI                     0x394u
#define CELOSIA_COUNTER_DRAIN_HI_RESET               0x00000000u

/* A beat of a load arrives. (read only) */
#define CELOSIA_COUNTER_READ_DATA_LO                 0x398u
#define CELOSIA_COUNTER_READ_DATA_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_DATA_HI                 0x39Cu
#define CELOSIA_COUNTER_READ_DATA_HI_RESET           0x00000000u

/* Memory pauses between beats, or takes no address and owes no beat. (read only) */
#define CELOSIA_COUNTER_READ_BANDWIDTH_LO            0x3A0u
#define CELOSIA_COUNTER_READ_BANDWIDTH_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANDWIDTH_HI            0x3A4u
#define CELOSIA_COUNTER_READ_BANDWIDTH_HI_RESET      0x00000000u

/* Memory has not begun to answer the oldest burst. (read only) */
#define CELOSIA_COUNTER_READ_LATENCY_LO              0x3A8u
#define CELOSIA_COUNTER_READ_LATENCY_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_LATENCY_HI              0x3ACu
#define CELOSIA_COUNTER_READ_LATENCY_HI_RESET        0x00000000u

/* As before, but the burst went out late: as many as there may be were in flight. (read only) */
#define CELOSIA_COUNTER_READ_REQUESTS_LO             0x3B0u
#define CELOSIA_COUNTER_READ_REQUESTS_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_REQUESTS_HI             0x3B4u
#define CELOSIA_COUNTER_READ_REQUESTS_HI_RESET       0x00000000u

/* A row waits for a bank that takes results of products. (read only) */
#define CELOSIA_COUNTER_READ_BANK_RESULTS_LO         0x3B8u
#define CELOSIA_COUNTER_READ_BANK_RESULTS_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANK_RESULTS_HI         0x3BCu
#define CELOSIA_COUNTER_READ_BANK_RESULTS_HI_RESET   0x00000000u

/* A row waits for a bank that reads weights. (read only) */
#define CELOSIA_COUNTER_READ_BANK_WEIGHTS_LO         0x3C0u
#define CELOSIA_COUNTER_READ_BANK_WEIGHTS_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANK_WEIGHTS_HI         0x3C4u
#define CELOSIA_COUNTER_READ_BANK_WEIGHTS_HI_RESET   0x00000000u

/* A row waits for a bank that reads rows of A or D. (read only) */
#define CELOSIA_COUNTER_READ_BANK_OPERANDS_LO        0x3C8u
#define CELOSIA_COUNTER_READ_BANK_OPERANDS_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANK_OPERANDS_HI        0x3CCu
#define CELOSIA_COUNTER_READ_BANK_OPERANDS_HI_RESET  0x00000000u

/* A row waits for a bank that serves transforms. (read only) */
#define CELOSIA_COUNTER_READ_BANK_TRANSFORM_LO       0x3D0u
#define CELOSIA_COUNTER_READ_BANK_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANK_TRANSFORM_HI       0x3D4u
#define CELOSIA_COUNTER_READ_BANK_TRANSFORM_HI_RESET 0x00000000u

/* A row waits for a bank that a store reads. (read only) */
#define CELOSIA_COUNTER_READ_BANK_STORE_LO           0x3D8u
#define CELOSIA_COUNTER_READ_BANK_STORE_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_BANK_STORE_HI           0x3DCu
#define CELOSIA_COUNTER_READ_BANK_STORE_HI_RESET     0x00000000u

/* A load is in the stages before and behind memory, which owes no beat. (read only) */
#define CELOSIA_COUNTER_READ_STAGES_LO               0x3E0u
#define CELOSIA_COUNTER_READ_STAGES_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_STAGES_HI               0x3E4u
#define CELOSIA_COUNTER_READ_STAGES_HI_RESET         0x00000000u

/* The next load waits for stores by a token. (read only) */
#define CELOSIA_COUNTER_READ_TOKEN_LO                0x3E8u
#define CELOSIA_COUNTER_READ_TOKEN_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_TOKEN_HI                0x3ECu
#define CELOSIA_COUNTER_READ_TOKEN_HI_RESET          0x00000000u

/* The next load waits for a product. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_EXECUTE_LO         0x3F0u
#define CELOSIA_COUNTER_READ_WAIT_EXECUTE_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_EXECUTE_HI         0x3F4u
#define CELOSIA_COUNTER_READ_WAIT_EXECUTE_HI_RESET   0x00000000u

/* The next load waits for a store. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_STORE_LO           0x3F8u
#define CELOSIA_COUNTER_READ_WAIT_STORE_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_STORE_HI           0x3FCu
#define CELOSIA_COUNTER_READ_WAIT_STORE_HI_RESET     0x00000000u

/* The next load waits for a transform. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_TRANSFORM_LO       0x400u
#define CELOSIA_COUNTER_READ_WAIT_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_WAIT_TRANSFORM_HI       0x404u
#define CELOSIA_COUNTER_READ_WAIT_TRANSFORM_HI_RESET 0x00000000u

/* No load is queued. (read only) */
#define CELOSIA_COUNTER_READ_NONE_LO                 0x408u
#define CELOSIA_COUNTER_READ_NONE_LO_RESET           0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_READ_NONE_HI                 0x40Cu
#define CELOSIA_COUNTER_READ_NONE_HI_RESET           0x00000000u

/* A beat of a store leaves. (read only) */
#define CELOSIA_COUNTER_WRITE_DATA_LO                0x410u
#define CELOSIA_COUNTER_WRITE_DATA_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_DATA_HI                0x414u
#define CELOSIA_COUNTER_WRITE_DATA_HI_RESET          0x00000000u

/* Memory does not take the address or the beat on offer. (read only) */
#define CELOSIA_COUNTER_WRITE_BANDWIDTH_LO           0x418u
#define CELOSIA_COUNTER_WRITE_BANDWIDTH_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANDWIDTH_HI           0x41Cu
#define CELOSIA_COUNTER_WRITE_BANDWIDTH_HI_RESET     0x00000000u

/* As many bursts are in flight as there may be. (read only) */
#define CELOSIA_COUNTER_WRITE_REQUESTS_LO            0x420u
#define CELOSIA_COUNTER_WRITE_REQUESTS_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_REQUESTS_HI            0x424u
#define CELOSIA_COUNTER_WRITE_REQUESTS_HI_RESET      0x00000000u

/* All is sent, and memory has not answered the oldest burst. (read only) */
#define CELOSIA_COUNTER_WRITE_LATENCY_LO             0x428u
#define CELOSIA_COUNTER_WRITE_LATENCY_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_LATENCY_HI             0x42Cu
#define CELOSIA_COUNTER_WRITE_LATENCY_HI_RESET       0x00000000u

/* A row waits for a bank that takes results of products. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_RESULTS_LO        0x430u
#define CELOSIA_COUNTER_WRITE_BANK_RESULTS_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_RESULTS_HI        0x434u
#define CELOSIA_COUNTER_WRITE_BANK_RESULTS_HI_RESET  0x00000000u

/* A row waits for a bank that reads weights. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_WEIGHTS_LO        0x438u
#define CELOSIA_COUNTER_WRITE_BANK_WEIGHTS_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_WEIGHTS_HI        0x43Cu
#define CELOSIA_COUNTER_WRITE_BANK_WEIGHTS_HI_RESET  0x00000000u

/* A row waits for a bank that reads rows of A or D. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_OPERANDS_LO       0x440u
#define CELOSIA_COUNTER_WRITE_BANK_OPERANDS_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_OPERANDS_HI       0x444u
#define CELOSIA_COUNTER_WRITE_BANK_OPERANDS_HI_RESET 0x00000000u

/* A row waits for a bank that serves transforms. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_TRANSFORM_LO      0x448u
#define CELOSIA_COUNTER_WRITE_BANK_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_TRANSFORM_HI      0x44Cu
#define CELOSIA_COUNTER_WRITE_BANK_TRANSFORM_HI_RESET 0x00000000u

/* A row waits for a bank of the accumulator that adds a load. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_LOAD_LO           0x450u
#define CELOSIA_COUNTER_WRITE_BANK_LOAD_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_BANK_LOAD_HI           0x454u
#define CELOSIA_COUNTER_WRITE_BANK_LOAD_HI_RESET     0x00000000u

/* A store is in the stages before memory. (read only) */
#define CELOSIA_COUNTER_WRITE_STAGES_LO              0x458u
#define CELOSIA_COUNTER_WRITE_STAGES_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_STAGES_HI              0x45Cu
#define CELOSIA_COUNTER_WRITE_STAGES_HI_RESET        0x00000000u

/* The next store waits for a load. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_LOAD_LO           0x460u
#define CELOSIA_COUNTER_WRITE_WAIT_LOAD_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_LOAD_HI           0x464u
#define CELOSIA_COUNTER_WRITE_WAIT_LOAD_HI_RESET     0x00000000u

/* The next store waits for a product. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_EXECUTE_LO        0x468u
#define CELOSIA_COUNTER_WRITE_WAIT_EXECUTE_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_EXECUTE_HI        0x46Cu
#define CELOSIA_COUNTER_WRITE_WAIT_EXECUTE_HI_RESET  0x00000000u

/* The next store waits for a transform. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_TRANSFORM_LO      0x470u
#define CELOSIA_COUNTER_WRITE_WAIT_TRANSFORM_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_WAIT_TRANSFORM_HI      0x474u
#define CELOSIA_COUNTER_WRITE_WAIT_TRANSFORM_HI_RESET 0x00000000u

/* No store is queued. (read only) */
#define CELOSIA_COUNTER_WRITE_NONE_LO                0x478u
#define CELOSIA_COUNTER_WRITE_NONE_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_WRITE_NONE_HI                0x47Cu
#define CELOSIA_COUNTER_WRITE_NONE_HI_RESET          0x00000000u

/* A step of REQUANTIZE enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_REQUANTIZE_LO         0x480u
#define CELOSIA_COUNTER_VECTOR_REQUANTIZE_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_REQUANTIZE_HI         0x484u
#define CELOSIA_COUNTER_VECTOR_REQUANTIZE_HI_RESET   0x00000000u

/* A step of MAXIMUM enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_MAXIMUM_LO            0x488u
#define CELOSIA_COUNTER_VECTOR_MAXIMUM_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_MAXIMUM_HI            0x48Cu
#define CELOSIA_COUNTER_VECTOR_MAXIMUM_HI_RESET      0x00000000u

/* A step of EXPONENT enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_EXPONENT_LO           0x490u
#define CELOSIA_COUNTER_VECTOR_EXPONENT_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_EXPONENT_HI           0x494u
#define CELOSIA_COUNTER_VECTOR_EXPONENT_HI_RESET     0x00000000u

/* A step of SUM enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_SUM_LO                0x498u
#define CELOSIA_COUNTER_VECTOR_SUM_LO_RESET          0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_SUM_HI                0x49Cu
#define CELOSIA_COUNTER_VECTOR_SUM_HI_RESET          0x00000000u

/* A step of PROBABILITY enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_PROBABILITY_LO        0x4A0u
#define CELOSIA_COUNTER_VECTOR_PROBABILITY_LO_RESET  0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_PROBABILITY_HI        0x4A4u
#define CELOSIA_COUNTER_VECTOR_PROBABILITY_HI_RESET  0x00000000u

/* A step of CONTEXT enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_CONTEXT_LO            0x4A8u
#define CELOSIA_COUNTER_VECTOR_CONTEXT_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_CONTEXT_HI            0x4ACu
#define CELOSIA_COUNTER_VECTOR_CONTEXT_HI_RESET      0x00000000u

/* A step of GELU enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_GELU_LO               0x4B0u
#define CELOSIA_COUNTER_VECTOR_GELU_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_GELU_HI               0x4B4u
#define CELOSIA_COUNTER_VECTOR_GELU_HI_RESET         0x00000000u

/* A step of RESIDUAL enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_RESIDUAL_LO           0x4B8u
#define CELOSIA_COUNTER_VECTOR_RESIDUAL_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_RESIDUAL_HI           0x4BCu
#define CELOSIA_COUNTER_VECTOR_RESIDUAL_HI_RESET     0x00000000u

/* A step of MOMENTS enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_MOMENTS_LO            0x4C0u
#define CELOSIA_COUNTER_VECTOR_MOMENTS_LO_RESET      0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_MOMENTS_HI            0x4C4u
#define CELOSIA_COUNTER_VECTOR_MOMENTS_HI_RESET      0x00000000u

/* A step of LAYERNORM enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_LAYERNORM_LO          0x4C8u
#define CELOSIA_COUNTER_VECTOR_LAYERNORM_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_LAYERNORM_HI          0x4CCu
#define CELOSIA_COUNTER_VECTOR_LAYERNORM_HI_RESET    0x00000000u

/* A step of SILU enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_SILU_LO               0x4D0u
#define CELOSIA_COUNTER_VECTOR_SILU_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_SILU_HI               0x4D4u
#define CELOSIA_COUNTER_VECTOR_SILU_HI_RESET         0x00000000u

/* A step of MULTIPLY enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_MULTIPLY_LO           0x4D8u
#define CELOSIA_COUNTER_VECTOR_MULTIPLY_LO_RESET     0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_MULTIPLY_HI           0x4DCu
#define CELOSIA_COUNTER_VECTOR_MULTIPLY_HI_RESET     0x00000000u

/* A step of ROTATE enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_ROTATE_LO             0x4E0u
#define CELOSIA_COUNTER_VECTOR_ROTATE_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_ROTATE_HI             0x4E4u
#define CELOSIA_COUNTER_VECTOR_ROTATE_HI_RESET       0x00000000u

/* A step of HARDSWISH enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_HARDSWISH_LO          0x4E8u
#define CELOSIA_COUNTER_VECTOR_HARDSWISH_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_HARDSWISH_HI          0x4ECu
#define CELOSIA_COUNTER_VECTOR_HARDSWISH_HI_RESET    0x00000000u

/* A step of DITHERED_EXPONENT enters the lanes. (read only) */
#define CELOSIA_COUNTER_VECTOR_DITHERED_EXPONENT_LO  0x4F0u
#define CELOSIA_COUNTER_VECTOR_DITHERED_EXPONENT_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_DITHERED_EXPONENT_HI  0x4F4u
#define CELOSIA_COUNTER_VECTOR_DITHERED_EXPONENT_HI_RESET 0x00000000u

/* A row waits for a bank that takes results of products. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_RESULTS_LO       0x4F8u
#define CELOSIA_COUNTER_VECTOR_BANK_RESULTS_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_RESULTS_HI       0x4FCu
#define CELOSIA_COUNTER_VECTOR_BANK_RESULTS_HI_RESET 0x00000000u

/* A row waits for a bank that reads weights. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_WEIGHTS_LO       0x500u
#define CELOSIA_COUNTER_VECTOR_BANK_WEIGHTS_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_WEIGHTS_HI       0x504u
#define CELOSIA_COUNTER_VECTOR_BANK_WEIGHTS_HI_RESET 0x00000000u

/* A row waits for a bank that reads rows of A or D. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_OPERANDS_LO      0x508u
#define CELOSIA_COUNTER_VECTOR_BANK_OPERANDS_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_OPERANDS_HI      0x50Cu
#define CELOSIA_COUNTER_VECTOR_BANK_OPERANDS_HI_RESET 0x00000000u

/* A row waits for a bank that takes results of transforms. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_WORDS_LO         0x510u
#define CELOSIA_COUNTER_VECTOR_BANK_WORDS_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_WORDS_HI         0x514u
#define CELOSIA_COUNTER_VECTOR_BANK_WORDS_HI_RESET   0x00000000u

/* A row waits for a bank of the accumulator that adds a load. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_LOAD_LO          0x518u
#define CELOSIA_COUNTER_VECTOR_BANK_LOAD_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_BANK_LOAD_HI          0x51Cu
#define CELOSIA_COUNTER_VECTOR_BANK_LOAD_HI_RESET    0x00000000u

/* The result before takes several rows, or others the scaler. (read only) */
#define CELOSIA_COUNTER_VECTOR_WORDS_LO              0x520u
#define CELOSIA_COUNTER_VECTOR_WORDS_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_WORDS_HI              0x524u
#define CELOSIA_COUNTER_VECTOR_WORDS_HI_RESET        0x00000000u

/* Results before wait for banks, and there is no room for more. (read only) */
#define CELOSIA_COUNTER_VECTOR_ROOM_LO               0x528u
#define CELOSIA_COUNTER_VECTOR_ROOM_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_ROOM_HI               0x52Cu
#define CELOSIA_COUNTER_VECTOR_ROOM_HI_RESET         0x00000000u

/* The next transform waits for statistics or parameters of one before it. (read only) */
#define CELOSIA_COUNTER_VECTOR_ORDER_LO              0x530u
#define CELOSIA_COUNTER_VECTOR_ORDER_LO_RESET        0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_ORDER_HI              0x534u
#define CELOSIA_COUNTER_VECTOR_ORDER_HI_RESET        0x00000000u

/* Transforms are in the lanes, or their results on the way to the scratchpad. (read only) */
#define CELOSIA_COUNTER_VECTOR_STAGES_LO             0x538u
#define CELOSIA_COUNTER_VECTOR_STAGES_LO_RESET       0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_STAGES_HI             0x53Cu
#define CELOSIA_COUNTER_VECTOR_STAGES_HI_RESET       0x00000000u

/* The next transform waits for a load. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_LOAD_LO          0x540u
#define CELOSIA_COUNTER_VECTOR_WAIT_LOAD_LO_RESET    0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_LOAD_HI          0x544u
#define CELOSIA_COUNTER_VECTOR_WAIT_LOAD_HI_RESET    0x00000000u

/* The next transform waits for a product. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_EXECUTE_LO       0x548u
#define CELOSIA_COUNTER_VECTOR_WAIT_EXECUTE_LO_RESET 0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_EXECUTE_HI       0x54Cu
#define CELOSIA_COUNTER_VECTOR_WAIT_EXECUTE_HI_RESET 0x00000000u

/* The next transform waits for a store. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_STORE_LO         0x550u
#define CELOSIA_COUNTER_VECTOR_WAIT_STORE_LO_RESET   0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_WAIT_STORE_HI         0x554u
#define CELOSIA_COUNTER_VECTOR_WAIT_STORE_HI_RESET   0x00000000u

/* No transform is queued, or there is no unit for any. (read only) */
#define CELOSIA_COUNTER_VECTOR_NONE_LO               0x558u
#define CELOSIA_COUNTER_VECTOR_NONE_LO_RESET         0x00000000u

/* Its high half. (read only) */
#define CELOSIA_COUNTER_VECTOR_NONE_HI               0x55Cu
#define CELOSIA_COUNTER_VECTOR_NONE_HI_RESET         0x00000000u

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
#define CELOSIA_CAUSE_SCALE                          14 /* a scale has a longer mantissa than the accelerator's `scale_bits`, or that of softmax scores is not one positive finite number */
#define CELOSIA_CAUSE_LOOP                           15 /* a REPEAT, STRIDE or PRODUCTS is not well formed */

#endif
