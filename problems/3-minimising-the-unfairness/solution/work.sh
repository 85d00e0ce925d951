# what is there, before anything is changed
tc -s qdisc show
for host in h1 h2 h3 h4; do
  $host tc -s qdisc show dev $host-eth0
  $host sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_rmem net.ipv4.tcp_wmem
done

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
