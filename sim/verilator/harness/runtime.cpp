// Verilator's own runtime, compiled once for all models, with its ways out redirected: what the
// RTL prints and how its assertions stop are the harness's business (`harness.cpp`).
int celosia_printf(const char* format, ...);
#define VL_PRINTF celosia_printf
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL

#include "verilated.cpp"
#include "verilated_threads.cpp"

#ifdef CELOSIA_TRACE_FST
#include "verilated_fst_c.cpp"
#elif defined CELOSIA_TRACE
#include "verilated_vcd_c.cpp"
#endif
