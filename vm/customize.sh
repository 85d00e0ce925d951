#!/bin/sh
# Make the root file system that mmdebstrap built ours: user, services, and nothing that is random.  Usage: customize.sh ROOT
set -eu
root=$1

# the public password: openssl passwd -6 -salt linklab password
# shellcheck disable=SC2016 # no variables, crypt(5)
hash='$6$linklab$VMPBoaFdouENac/yVRxXPnxXWz930DGFlj6ktvDe3e44bxoEeaIRUfG1wKfrbPM8ZUyDCcMaSWvdjpN6xDcm40'
chroot "$root" useradd --uid 1000 --user-group --groups sudo,video,audio --shell /bin/bash --password "$hash" --no-create-home admin
cp -rT --no-clobber "$root/etc/skel" "$root/home/admin"
chroot "$root" chown -R admin:admin /home/admin
chroot "$root" systemctl enable --quiet systemd-networkd systemd-resolved systemd-timesyncd lightdm
chroot "$root" systemctl disable --quiet ssh openvswitch-testcontroller
ln -sf /lib/systemd/system/graphical.target "$root/etc/systemd/system/default.target"
printf 'LANG=C.UTF-8\n' >"$root/etc/default/locale"

# the labs' scripts are typed as commands; the host engine's one program that needs root asks for no password
for script in "$root"/usr/lib/linklab/scripts/*; do
  ln -s "${script#"$root"}" "$root/usr/local/bin/"
done
line="import linklab.engine.sudo as sudo; print(sudo.sudoers_line())"
chroot "$root" su admin -c "/usr/lib/linklab/venv/bin/python -I -c '$line'" >"$root/etc/sudoers.d/linklab"
chmod 440 "$root/etc/sudoers.d/linklab"
chroot "$root" visudo --check --quiet

# made anew where the image starts, or of no use there
rm -f "$root"/etc/ssh/ssh_host_*_key* "$root"/etc/openvswitch/system-id.conf "$root"/etc/openvswitch/conf.db
rm -rf "$root"/var/lib/openvswitch/pki "$root"/etc/openvswitch-testcontroller
rm -rf "$root"/root/.cache "$root"/var/lib/systemd/random-seed "$root"/var/cache/ldconfig/* "$root"/var/cache/man/* "$root"/var/cache/fontconfig/*
find "$root/var/log" -type f -delete
