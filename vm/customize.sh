#!/bin/sh
# Make the root file system that mmdebstrap built ours: user, services, and nothing that is random.  Usage: customize.sh ROOT
set -eu
root=$1

# the public password: openssl passwd -6 -salt linklab password
hash='$6$linklab$VMPBoaFdouENac/yVRxXPnxXWz930DGFlj6ktvDe3e44bxoEeaIRUfG1wKfrbPM8ZUyDCcMaSWvdjpN6xDcm40'
chroot "$root" useradd --uid 1000 --user-group --groups sudo,video,audio --shell /bin/bash --password "$hash" --no-create-home admin
cp -rT --no-clobber "$root/etc/skel" "$root/home/admin"
chroot "$root" chown -R admin:admin /home/admin
chroot "$root" systemctl enable --quiet systemd-networkd systemd-resolved systemd-timesyncd lightdm
chroot "$root" systemctl disable --quiet ssh openvswitch-testcontroller
ln -sf /lib/systemd/system/graphical.target "$root/etc/systemd/system/default.target"
printf 'LANG=C.UTF-8\n' >"$root/etc/default/locale"

# made anew where the image starts, or of no use there
rm -f "$root"/etc/ssh/ssh_host_*_key* "$root"/etc/openvswitch/system-id.conf "$root"/etc/openvswitch/conf.db
rm -rf "$root"/var/lib/openvswitch/pki "$root"/etc/openvswitch-testcontroller
rm -rf "$root"/var/lib/systemd/random-seed "$root"/var/cache/ldconfig/* "$root"/var/cache/man/* "$root"/var/cache/fontconfig/*
find "$root/var/log" -type f -delete
