# what is there, before anything is changed
tc -s qdisc show
h1 tc -s qdisc show dev h1-eth0
for host in h1 h2; do
    $host sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_window_scaling
done
# the algorithm that does not mind losses; they are still there
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
