# what is there, before anything is changed
tc -s qdisc show
h1 tc -s qdisc show dev h1-eth0
for host in h1 h2; do
    $host sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_window_scaling
done
# the discipline stays, and does nothing any more
tc qdisc change dev s2-eth2 root handle 1: netem loss 0% limit 100000
