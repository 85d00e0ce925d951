# the queue was put back to one BDP before Reno's test
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
h1 sysctl -w net.ipv4.tcp_congestion_control=reno
