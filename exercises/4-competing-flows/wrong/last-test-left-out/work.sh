# Both senders were left with BBR, and the last test was made up from the one before.
for host in h1 h2 h3 h4; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 {= 4 * bdp : bytes}'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 {= 4 * bdp : bytes}'
done
tc qdisc change dev s1-eth1 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
