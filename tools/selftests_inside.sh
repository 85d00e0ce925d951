#!/bin/sh
# Run one of the kernel's own tests as root in a pocket: output, exit status, and the kernel's log go to /lab.
# Usage: selftests_inside.sh FOLDER COMMAND...
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
dmesg --clear
cd "$1" || exit
shift
"$@" >/lab/output 2>&1 </dev/null
echo $? >/lab/status
dmesg >/lab/kernel
