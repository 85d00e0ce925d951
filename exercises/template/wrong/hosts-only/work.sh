h1 sysctl -w net.ipv4.tcp_wmem='10240 87380 {= 4 * bdp : bytes}'
h2 sysctl -w net.ipv4.tcp_rmem='10240 87380 {= 4 * bdp : bytes}'
