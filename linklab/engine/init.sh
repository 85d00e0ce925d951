#!/bin/sh
# First program in a pocket: a throw-away layer over the host's files, then the agent; powers off when that ends.
# The kernel's command line gives CLOCK, and RUN, the run directory, by a name that is the same in every run. It holds
# links: `lib` to the package's folder, `work` to the working folder, `venv` to the virtual environment of the Python
# that runs Linklab (or only its bin/python), `modules` to the list of what is built into the kernel; and `user`, a
# file, where /lab is not root's. Only what is written under /lab, the working folder, stays.
umask 022 # as at any login; the kernel starts its first program with umask 0
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 LANG=C.UTF-8
# a machine without systemd has no poweroff; LINUX_REBOOT_CMD_POWER_OFF of reboot(2)
off() { poweroff -f 2>/dev/null || /usr/bin/python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'; }
fail() { echo "init: $1"; off; }
read -r owner 2>/dev/null <"$RUN/user" || owner='' # now, since the layer hides /tmp, where the run directory may lie

{ mount -t tmpfs layer /tmp && mkdir /tmp/upper /tmp/scratch /tmp/root; } || fail "no memory for the layer"
mount -t overlay -o lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/scratch root /tmp/root || fail "no layer over the root"
cd /tmp/root || fail "no layer over the root"
mount -t proc proc proc
mount -t sysfs sys sys
mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm lab opt/linklab/linklab opt/linklab/scripts opt/linklab/venv
mount -t devpts -o ptmxmode=666 pts dev/pts
mount -t tmpfs shm dev/shm
mount -t tmpfs run run
mkdir -p run/netns run/lock run/linklab sys/fs/cgroup "lib/modules/$(uname -r)"
# What a program reads is part of a run, so Linklab's own files are at the same paths wherever the clone is, and
# /proc/mounts shows the same names for them; without -c, mount would take these names for paths.
of_run() { mount -c -t hostfs -o "$3$RUN/$1" "$(basename "$1")" "$2"; }
# otherwise the first reading of a file since it was written sets its time of access (mount(8), relatime), and whether
# somebody outside has read it before then would move a run by nanoseconds
of_run work lab noatime, || fail "the working folder cannot be mounted"
of_run lib/linklab opt/linklab/linklab ro, || fail "the package cannot be found"
of_run venv opt/linklab/venv ro, || fail "the Python of Linklab cannot be found"
of_run lib/scripts opt/linklab/scripts ro, 2>/dev/null # a wheel has none
of_run modules "lib/modules/$(uname -r)" ro, 2>/dev/null # an older build has no such list
mount -t tmpfs cgroup sys/fs/cgroup
for group in cpu cpuacct; do
	mkdir "sys/fs/cgroup/$group" && mount -t cgroup -o "$group" "$group" "sys/fs/cgroup/$group"
done

# what a lab may ask of the machine: its kernel's configuration, every congestion control in every namespace
zcat proc/config.gz >"boot/config-$(uname -r)" 2>/dev/null
cat proc/sys/net/ipv4/tcp_available_congestion_control >proc/sys/net/ipv4/tcp_allowed_congestion_control
ip link set lo up
hostname linklab

# the machine's settings must not be part of a run: every program opens a locale-archive before it tries C.UTF-8, and
# tcpdump prints times of the time zone
rm -f usr/lib/locale/locale-archive
ln -sf /usr/share/zoneinfo/Etc/UTC etc/localtime

# tcpdump gives its file to the user that it becomes, which only root of the machine can do: elsewhere that user is the
# owner of /lab. By the shell alone, since each further process would be counted.
if [ -n "$owner" ]; then
	others='' tcpdump=''
	while IFS= read -r line; do
		case $line in
		tcpdump:x:*) tcpdump=tcpdump:x:$owner::/:${line##*:} ;;
		*) others="$others$line
" ;;
		esac
	done <etc/passwd
	[ -z "$tcpdump" ] || printf '%s%s\n' "$others" "$tcpdump" >etc/passwd # last, so that files go by their owner's name
fi

# the layer becomes the root of the mount namespace itself: Mininet's nodes enter namespaces, which leaves a chroot
{ pivot_root . . && umount -l .; } || fail "the layer cannot become the root"
cd /

PYTHONPATH=/opt/linklab PYTHONNOUSERSITE=1 HOME=/lab /usr/bin/python3 -B -m linklab.agent || echo "init: the agent ended with $?"
off
