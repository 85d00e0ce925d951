tc qdisc add dev s1-eth2 root handle 1: netem delay {delay:tc} loss {loss:tc}
tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}

tc qdisc add dev s2-eth1 root netem delay {delay:tc}
