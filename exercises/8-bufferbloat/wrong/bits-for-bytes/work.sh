# rate times round-trip time, not divided by eight: bits, given to tc as bytes
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {= 8 * ten : bytes}
h1 sysctl -w net.ipv4.tcp_congestion_control=reno
