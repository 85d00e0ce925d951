# what is there, before anything is changed
tc -s qdisc show
h1 tc -s qdisc show dev h1-eth0
for host in h1 h2; do
    $host sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_window_scaling
done

# whatever was planted: disciplines where none belong, the queue of the bottleneck, the settings of the hosts
tc qdisc del dev s2-eth2 root 2>/dev/null
h1 tc qdisc del dev h1-eth0 root 2>/dev/null
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
h2 sysctl -w net.ipv4.tcp_window_scaling=1
h2 sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
