tc qdisc del dev s1-eth2 root
