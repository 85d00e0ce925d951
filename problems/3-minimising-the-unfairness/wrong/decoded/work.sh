# the cause was read out of instance.json; nothing was looked at, and nothing measured before it was mended
# whatever was planted
for host in h1 h2; do
  $host tc qdisc del dev $host-eth0 root 2>/dev/null
  $host sysctl -w net.ipv4.tcp_congestion_control=cubic
done
h4 sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
tc qdisc del dev s2-eth2 root 2>/dev/null
tc qdisc del dev s2-eth3 root 2>/dev/null
# and a queue for each flow
tc qdisc add dev s1-eth2 parent 2: handle 3: fq_codel
