tc qdisc add dev s1-eth2 root netem delay 1ms limit 100000
for host in h1 h2 h3 h4; do
  $host tc qdisc add dev $host-eth0 root fq maxrate {quarter:tc}
done
