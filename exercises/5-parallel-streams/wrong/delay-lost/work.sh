# Typed again at the end "to be sure", without the delay: tc qdisc change sets netem anew as a whole.
tc qdisc change dev s1-eth2 root handle 1: netem loss {loss:tc}
