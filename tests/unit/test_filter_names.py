"""Filters of captures: what libpcap would ask the DNS for is refused, and all other words of the language are taken."""

import pytest

from linklab.capture.filter_names import looked_up
from linklab.capture.filters import compiled
from linklab.errors import InputError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("host www.example.com", "www.example.com"),
        ("www.example.com", "www.example.com"),
        ("src h1 and dst 10.0.0.2", "h1"),
        ("host 10.0.0.1 or h2", "h2"),
        ("net campus", "campus"),
        ("gateway router", "router"),
        ("ether host server", "server"),
        ("tcp prot 80", "prot"),
        ("tcp and port http and src host web", "web"),
        ("port http or src web", "web"),
        ("(port http) or web", "web"),
        ("tcp src http", "http"),
        ("llc and web", "web"),
        ("host \\tcp", "\\tcp"),
        ("host 10.0.0.1.2", "10.0.0.1.2"),
        ("host 10.0.0.2.", "10.0.0.2."),
        ("host aa:bb:cc:dd:ee:ff.example", "aa"),
        ("host fe80::1.example.com", "fe80"),
        ("HOST 10.0.0.1", "HOST"),
        ("len-4 > 100", "len-4"),
    ],
)
def test_names_of_hosts_and_networks_are_refused_before_libpcap_looks_them_up(text, name):
    """With the word, and that an address is wanted."""
    assert looked_up(text) == name
    with pytest.raises(InputError) as refused:
        compiled(text)
    assert f'"{name}" is no word of a filter, and names of hosts are not looked up; give the address' in str(
        refused.value
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "icmp",
        "tcp port 5201",
        "host 10.0.0.2 and not arp",
        "src 10.0.0.1 or 10.0.0.2",
        "src or dst port http",
        "tcp port http or ssh",
        "tcp port (http or ssh) and host 10.0.0.1",
        "portrange 6000-6008",
        "tcp portrange ssh-http",
        "src net 10.1 and dst net 10.0.0.0/8",
        "net 10.0.0.0 mask 255.0.0.0",
        "ether host 00:1a:2b:3c:4d:5e or ether src 00-1a-2b-3c-4d-5e or ether dst 001a.2b3c.4d5e",
        "ip6 host fe80::1 or net 2001:db8::/32 or host ::ffff:10.0.0.1",
        "ip proto \\tcp or ip6 protochain 6",
        "ether proto \\arp or 0x88cc",
        "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and not src and dst net 10.0.0.0/8",
        "tcp port 80 and (((ip[2:2] - ((ip[0]&0xf)<<2)) - ((tcp[12]&0xf0)>>2)) != 0)",
        "ether[0] & 1 = 0 and ip[16] >= 224",
        "icmp[icmptype] != icmp-echo && icmp[icmptype] != icmp-echoreply",
        "icmp6 and icmp6[icmp6type] == icmp6-neighborsolicit",
        "vlan 100 && vlan 200 and less 128",
        "greater 1000 or len > 1400 or broadcast or multicast or ip multicast",
        "mpls 100000 && mpls 1024",
        "stp or llc u or isis or decnet src 10.15 or ipx",
        "(host 10.0.0.1 or (host 10.0.0.2 and !udp)) and tcp",
    ],
)
def test_filters_without_such_names_are_taken(text):
    """As pcap-filter(7) has them: its own words, names of ports and protocols, numbers, and addresses."""
    assert looked_up(text) is None
    assert compiled(text)
