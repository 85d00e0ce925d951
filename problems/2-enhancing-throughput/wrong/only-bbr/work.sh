# BBR alone: the losses do not matter any more, what was planted does
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
