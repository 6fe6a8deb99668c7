# METADATA
# title: Entered another process
# description: >-
#   A debugger, tracer or profiler is let into a process that runs already, or into all of them: it sees
#   everything that they read, write and hold in memory, passwords included, and can change it.
# custom:
#   severity: high
#   remediation: Start the program under the debugger yourself.
#   examples:
#     - gdb -p 4242
#     - strace -f -p 4242
#     - gcore 4242
#     - perf record -a
#     - py-spy dump --pid 4242
#   lookalikes:
#     - gdb ./a.out
#     - strace -f ls
#     - strace mkdir -p build
#     - perf stat ls
#     - py-spy record -o p.svg -- python3 app.py
package sallyport.rules.system.process_memory

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.process_memory
