# The pairs were compared as they were found, all the time.
h1 sysctl -w net.ipv4.tcp_congestion_control=bbr
h2 sysctl -w net.ipv4.tcp_congestion_control=bbr
