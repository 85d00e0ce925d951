# what is there, before anything is changed
tc -s qdisc show
h1 tc -s qdisc show dev h1-eth0
for host in h1 h2; do
    $host sysctl -a -r '^net.ipv4.tcp_'
    $host ip route
done
# BBR alone: the losses do not matter any more, what was planted does
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
