# what is there, before anything is changed
tc -s qdisc show
h1 tc -s qdisc show dev h1-eth0
for host in h1 h2; do
    $host sysctl -a -r '^net.ipv4.tcp_'
    $host ip route
done

# BBR, which random losses do not slow; then whatever was planted
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr

h1 tc qdisc del dev h1-eth0 root 2>/dev/null
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
for host in h1 h2; do
    $host sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216' net.ipv4.tcp_wmem='10240 87380 16777216'
    $host sysctl -w net.ipv4.tcp_window_scaling=1 net.ipv4.tcp_moderate_rcvbuf=1 net.ipv4.tcp_sack=1
done
h1 ip route change 10.0.0.0/8 dev h1-eth0 proto kernel scope link src 10.0.0.1
h2 ip route change 10.0.0.0/8 dev h2-eth0 proto kernel scope link src 10.0.0.2
