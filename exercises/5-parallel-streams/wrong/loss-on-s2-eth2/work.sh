# On the port towards h2 instead of the one towards s2: the streams suffer the same, the path does not lose.
tc qdisc add dev s2-eth2 root netem loss {loss:tc}
