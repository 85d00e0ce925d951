# "mbps" is megabytes to tc
tc qdisc add dev s1-eth2 root handle 1: netem delay {delay:tc} loss {loss:tc} limit 100000
tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate {= 8 * rate : tc} burst {= 8 * burst : bytes} limit {= 8 * bdp : bytes}
tc qdisc add dev s2-eth1 root netem delay {delay:tc} limit 100000
