// A function of a system that its headers declare: nothing of a thread outlives a module.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
