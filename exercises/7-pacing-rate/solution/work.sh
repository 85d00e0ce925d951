tc qdisc change dev s1-eth1 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}

for host in h1 h2 h3 h4; do
  $host tc qdisc add dev $host-eth0 root fq maxrate {quarter:tc}
done
