# Exercise 5: the losses, beside the delay that is there already.
tc qdisc change dev s1-eth2 root handle 1: netem delay {rtt:tc} loss {loss:tc}
