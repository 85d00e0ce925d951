# Exercise 4: four BDP in the hosts, for path and queue hold two and a buffer is not all window; one in the switch.
for host in h1 h2 h3 h4; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 {= 4 * bdp : bytes}'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 {= 4 * bdp : bytes}'
done

tc qdisc change dev s1-eth1 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}

h1 sysctl -w net.ipv4.tcp_congestion_control=cubic
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
