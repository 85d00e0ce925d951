tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
