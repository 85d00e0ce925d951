# The buffers are right; the network was left as in the third step, with Reno against BBR.
for host in h2 h4; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'
done
h1 sysctl -w net.ipv4.tcp_congestion_control=reno
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
