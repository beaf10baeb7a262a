"""When the operations of a program happen: its queues and units, followed without values.

Each operation is looked at once, in program order, so that a program of 60,000 products takes a
tenth of a second.  What is modeled: queues of finite depth, hazards between local rows, stores that
loads wait for, what the memory's channels carry and how many bursts are in flight, banks that serve
one access per cycle, and facts that are derived row by row.
"""
