/* A driver for the Celosia accelerator that uses nothing but its registers and its command ring.
 * C99, freestanding, no allocation, no state but `struct celosia`; one caller at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   struct celosia_entry entries[64];
 *   struct celosia device;
 *   if (celosia_init(&device, 0x40000000, 16, 128) != CELOSIA_OK) ...
 *   celosia_permit(&device, first, last, first, last);
 *   celosia_open_ring(&device, entries, (uint64_t)(uintptr_t)entries, 64);
 *   celosia_submit(&device, commands, count);
 *   if (celosia_wait(&device) == CELOSIA_FAILED) ...
 *
 * Before the doorbell, the ring and the operands must be where the accelerator reads them: with a
 * cache that it does not see into, define CELOSIA_PUBLISH to clean it.
 */
#ifndef CELOSIA_H
#define CELOSIA_H

#include <stddef.h>
#include <stdint.h>

#include "celosia_registers.h"

/* How registers are accessed; define the three to replace them. */
#ifndef CELOSIA_READ32
#define CELOSIA_READ32(base, offset) (*(volatile uint32_t *)((base) + (offset)))
#define CELOSIA_WRITE32(base, offset, value) \
  ((void)(*(volatile uint32_t *)((base) + (offset)) = (value)))
#endif

/* Makes `bytes` bytes at `pointer` visible to the accelerator before the next register write. */
#ifndef CELOSIA_PUBLISH
#if defined(__GNUC__)
#define CELOSIA_PUBLISH(pointer, bytes) ((void)(pointer), (void)(bytes), __sync_synchronize())
#else
#error "define CELOSIA_PUBLISH(pointer, bytes) as a memory barrier"
#endif
#endif

/* A field of a register, and a field's place in a register. */
#define CELOSIA_FIELD(word, name) (((word) & name##_MASK) >> name##_SHIFT)

enum celosia_status {
  CELOSIA_OK,      /* Done, or nothing to do. */
  CELOSIA_BUSY,    /* Not yet. */
  CELOSIA_FAILED,  /* An error is recorded: celosia_error, then celosia_clear. */
  CELOSIA_STRANGER /* What answers is no accelerator, or not the expected one. */
};

/* A command, as compiler and assembler make it. */
struct celosia_command {
  uint32_t funct;
  uint64_t rs1, rs2;
};

/* A command in the ring. */
struct celosia_entry {
  uint32_t funct, zero;
  uint64_t rs1, rs2;
};

/* The first error since reset or celosia_clear. */
struct celosia_error {
  unsigned cause;   /* CELOSIA_CAUSE_... */
  unsigned bus_id;  /* Of the access that failed. */
  uint32_t command; /* Its number, from 0 since reset or celosia_clear. */
  uint64_t address; /* In memory, if it has to do with one. */
};

struct celosia {
  uintptr_t base;                         /* Of the registers. */
  volatile struct celosia_entry *entries; /* The ring, for this program. */
  uint32_t size, tail;                    /* Entries, and the one that is filled next. */
  uint32_t submitted;                     /* Commands: where RING_COMPLETED will end. */
};

static inline uint32_t celosia_read(const struct celosia *device, uint32_t offset) {
  return CELOSIA_READ32(device->base, offset);
}

static inline void celosia_write(const struct celosia *device, uint32_t offset, uint32_t value) {
  CELOSIA_WRITE32(device->base, offset, value);
}

static inline uint64_t celosia_read64(const struct celosia *device, uint32_t offset) {
  uint64_t low = celosia_read(device, offset);
  return low | (uint64_t)celosia_read(device, offset + 4) << 32;
}

static inline void celosia_write64(const struct celosia *device, uint32_t offset, uint64_t value) {
  celosia_write(device, offset, (uint32_t)value);
  celosia_write(device, offset + 4, (uint32_t)(value >> 32));
}

static inline int celosia_busy(const struct celosia *device) {
  return (celosia_read(device, CELOSIA_STATUS) & CELOSIA_STATUS_BUSY_MASK) != 0;
}

/* Finds the accelerator whose registers are at `base`, with an array of dim x dim and a bus of
 * `bus_bits`, for which programs were compiled (0: any). */
static inline enum celosia_status celosia_init(struct celosia *device, uintptr_t base, unsigned dim,
                                               unsigned bus_bits) {
  uint32_t version, array, port;
  device->base = base;
  device->entries = NULL;
  device->size = device->tail = 0;
  if (celosia_read(device, CELOSIA_IDENTITY) != CELOSIA_IDENTITY_RESET) return CELOSIA_STRANGER;
  version = celosia_read(device, CELOSIA_VERSION);
  if (CELOSIA_FIELD(version, CELOSIA_VERSION_MAJOR) != CELOSIA_VERSION_MAJOR ||
      CELOSIA_FIELD(version, CELOSIA_VERSION_MINOR) < CELOSIA_VERSION_MINOR)
    return CELOSIA_STRANGER;
  array = celosia_read(device, CELOSIA_CONFIG_ARRAY);
  port = celosia_read(device, CELOSIA_CONFIG_PORT);
  if ((dim && CELOSIA_FIELD(array, CELOSIA_CONFIG_ARRAY_DIM) != dim) ||
      (bus_bits && CELOSIA_FIELD(port, CELOSIA_CONFIG_PORT_BUS_BITS) != bus_bits))
    return CELOSIA_STRANGER;
  device->submitted = celosia_read(device, CELOSIA_RING_COMPLETED);
  return CELOSIA_OK;
}

/* Lets programs touch these bytes only, both ends included; the ring must be readable, too. */
static inline enum celosia_status celosia_permit(const struct celosia *device, uint64_t read_base,
                                                 uint64_t read_limit, uint64_t write_base,
                                                 uint64_t write_limit) {
  if (celosia_busy(device)) return CELOSIA_BUSY;
  celosia_write64(device, CELOSIA_READ_BASE_LO, read_base);
  celosia_write64(device, CELOSIA_READ_LIMIT_LO, read_limit);
  celosia_write64(device, CELOSIA_WRITE_BASE_LO, write_base);
  celosia_write64(device, CELOSIA_WRITE_LIMIT_LO, write_limit);
  return CELOSIA_OK;
}

/* Stops programs with an error after so many busy cycles, or so many without progress; 0: never. */
static inline enum celosia_status celosia_set_patience(const struct celosia *device,
                                                       uint64_t cycle_budget, uint32_t watchdog) {
  if (celosia_busy(device)) return CELOSIA_BUSY;
  celosia_write64(device, CELOSIA_CYCLE_BUDGET_LO, cycle_budget);
  celosia_write(device, CELOSIA_WATCHDOG, watchdog);
  return CELOSIA_OK;
}

/* Takes commands from a ring of `size` entries, 2 or more: at `entries` for this program, and at
 * `address`, a multiple of 8, for the accelerator. */
static inline enum celosia_status celosia_open_ring(struct celosia *device, void *entries,
                                                    uint64_t address, uint32_t size) {
  if (celosia_busy(device)) return CELOSIA_BUSY;
  device->entries = (volatile struct celosia_entry *)entries;
  device->size = size;
  device->tail = celosia_read(device, CELOSIA_RING_HEAD);
  if (device->tail >= size) return CELOSIA_FAILED; /* A larger ring stopped there: reset it. */
  celosia_write64(device, CELOSIA_RING_BASE_LO, address);
  celosia_write(device, CELOSIA_RING_SIZE, size);
  celosia_write(device, CELOSIA_CONTROL, CELOSIA_CONTROL_RING_ENABLE_MASK);
  return CELOSIA_OK;
}

/* Hands over as many of `count` commands as there is room for: how many. */
static inline size_t celosia_submit(struct celosia *device, const struct celosia_command *commands,
                                    size_t count) {
  uint32_t head = celosia_read(device, CELOSIA_RING_HEAD);
  size_t taken;
  for (taken = 0; taken < count; taken++) {
    uint32_t next = device->tail + 1 == device->size ? 0 : device->tail + 1;
    volatile struct celosia_entry *entry = &device->entries[device->tail];
    if (next == head) break; /* One entry stays empty: a full ring is not an empty one. */
    entry->funct = commands[taken].funct;
    entry->zero = 0;
    entry->rs1 = commands[taken].rs1;
    entry->rs2 = commands[taken].rs2;
    device->tail = next;
  }
  if (taken == 0) return 0;
  device->submitted += (uint32_t)taken;
  CELOSIA_PUBLISH(device->entries, device->size * sizeof(struct celosia_entry));
  celosia_write(device, CELOSIA_RING_TAIL, device->tail);
  celosia_write(device, CELOSIA_RING_DOORBELL, 1);
  return taken;
}

/* Whether all that was submitted has finished, writes to memory included. */
static inline enum celosia_status celosia_poll(const struct celosia *device) {
  if (celosia_read(device, CELOSIA_STATUS) & CELOSIA_STATUS_ERROR_MASK) return CELOSIA_FAILED;
  return celosia_read(device, CELOSIA_RING_COMPLETED) == device->submitted ? CELOSIA_OK
                                                                           : CELOSIA_BUSY;
}

/* Waits for that.  CYCLE_BUDGET and WATCHDOG end programs that would never do so. */
static inline enum celosia_status celosia_wait(const struct celosia *device) {
  enum celosia_status status;
  do
    status = celosia_poll(device);
  while (status == CELOSIA_BUSY);
  return status;
}

/* Submits all of `count` commands, as entries become free, and waits for their end. */
static inline enum celosia_status celosia_run(struct celosia *device,
                                              const struct celosia_command *commands,
                                              size_t count) {
  while (count) {
    size_t taken = celosia_submit(device, commands, count);
    commands += taken;
    count -= taken;
    if (celosia_poll(device) == CELOSIA_FAILED) return CELOSIA_FAILED;
  }
  return celosia_wait(device);
}

/* Chooses what makes the interrupt output high. */
static inline void celosia_enable_interrupts(const struct celosia *device, int done, int error) {
  celosia_write(device, CELOSIA_INTERRUPT_ENABLE,
                (done ? CELOSIA_INTERRUPT_ENABLE_DONE_MASK : 0u) |
                    (error ? CELOSIA_INTERRUPT_ENABLE_ERROR_MASK : 0u));
}

/* For the interrupt handler: makes the output low; CELOSIA_INTERRUPT_STATUS_..._MASK of what was. */
static inline uint32_t celosia_acknowledge(const struct celosia *device) {
  uint32_t events = celosia_read(device, CELOSIA_INTERRUPT_STATUS);
  celosia_write(device, CELOSIA_INTERRUPT_STATUS, events);
  return events;
}

/* What went wrong; cause 0: nothing. */
static inline struct celosia_error celosia_error(const struct celosia *device) {
  struct celosia_error error;
  uint32_t word = celosia_read(device, CELOSIA_ERROR);
  error.cause = (unsigned)CELOSIA_FIELD(word, CELOSIA_ERROR_CAUSE);
  error.bus_id = (unsigned)CELOSIA_FIELD(word, CELOSIA_ERROR_ID);
  error.command = celosia_read(device, CELOSIA_ERROR_COMMAND);
  error.address = celosia_read64(device, CELOSIA_ERROR_ADDRESS_LO);
  return error;
}

/* Forgets the error and everything queued, and goes on with an empty ring.  What commands have
 * configured is as after a reset.  CELOSIA_BUSY: bursts are in flight; if that does not end, only
 * a reset helps. */
static inline enum celosia_status celosia_clear(struct celosia *device) {
  if (celosia_busy(device)) return CELOSIA_BUSY;
  celosia_write(device, CELOSIA_CONTROL,
                CELOSIA_CONTROL_RING_ENABLE_MASK | CELOSIA_CONTROL_CLEAR_ERROR_MASK);
  device->tail = celosia_read(device, CELOSIA_RING_HEAD);
  device->submitted = celosia_read(device, CELOSIA_RING_COMPLETED);
  return CELOSIA_OK;
}

/* A 64-bit counter, CELOSIA_COUNTER_..._LO; the accelerator must be idle. */
static inline uint64_t celosia_counter(const struct celosia *device, uint32_t offset) {
  return celosia_read64(device, offset);
}

#endif
