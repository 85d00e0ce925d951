tc qdisc change dev s1-eth2 root handle 1: netem delay {rtt:tc} limit 100000 loss {loss:tc}
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst {burst:bytes} limit {bdp:bytes}
for host in h1 h2; do
  $host sysctl -w net.ipv4.tcp_rmem='10240 87380 {= bdp : bytes}'
  $host sysctl -w net.ipv4.tcp_wmem='10240 87380 {= bdp : bytes}'
done
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
