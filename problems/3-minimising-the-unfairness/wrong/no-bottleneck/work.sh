# what is there, before anything is changed
tc -s qdisc show
for host in h1 h2 h3 h4; do
  $host tc -s qdisc show dev $host-eth0
  $host sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_rmem net.ipv4.tcp_wmem
done
tc qdisc del dev s1-eth2 root
