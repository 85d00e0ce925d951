# Exercise 6: the pair h2, h4 gets the buffers that h1, h3 have; BBR on both shares evenly.
for host in h2 h4; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'
done

h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
