tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {ten:bytes}

h1 sysctl -w net.ipv4.tcp_congestion_control=reno
