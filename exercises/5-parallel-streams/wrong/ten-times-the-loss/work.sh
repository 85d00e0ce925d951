# 0.2 became 2: the decimal point.
tc qdisc change dev s1-eth2 root handle 1: netem delay {rtt:tc} loss {= 10 * loss * 100 : .4g}%
