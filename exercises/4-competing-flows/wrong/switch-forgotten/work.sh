# The hosts are tuned, the switch is not.
for host in h1 h2 h3 h4; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 {= 4 * bdp : bytes}'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 {= 4 * bdp : bytes}'
done
h1 sysctl -w net.ipv4.tcp_congestion_control=cubic
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
