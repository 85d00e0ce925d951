// SPDX-License-Identifier: BSD-3-Clause
// The flow of tools/bench_speed.py in ns-3: h1 - s1 - h2, one bottleneck with one queue in bytes, TCP CUBIC.
// Usage: bench_ns3 RATE_BPS RTT_S QUEUE_BYTES FLOWS SECONDS; prints the bytes that arrived.
#include <cstdlib>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

int main(int argc, char *argv[])
{
    if (argc != 6) {
        std::cerr << "usage: bench_ns3 RATE_BPS RTT_S QUEUE_BYTES FLOWS SECONDS\n";
        return 2;
    }
    const std::string rate = argv[1], queue = std::string(argv[3]) + "B";
    const double rtt = std::atof(argv[2]), seconds = std::atof(argv[5]);
    const int flows = std::atoi(argv[4]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(52428800));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(52428800));

    NodeContainer nodes;
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper access, bottleneck;
    access.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    access.SetChannelAttribute("Delay", TimeValue(Seconds(0)));
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate + "bps")));
    bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    NetDeviceContainer near = access.Install(nodes.Get(0), nodes.Get(1));
    NetDeviceContainer far = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    Ipv4InterfaceContainer there = addresses.Assign(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // without traffic control the device's own queue is the only one, like tbf's
    TrafficControlHelper control;
    control.Uninstall(near);
    control.Uninstall(far);

    const uint16_t port = 5201;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer server = sink.Install(nodes.Get(2));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(there.GetAddress(1), port));
    source.SetAttribute("SendSize", UintegerValue(131072));
    for (int flow = 0; flow < flows; flow++)
        source.Install(nodes.Get(0)).Start(MilliSeconds(flow));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << DynamicCast<PacketSink>(server.Get(0))->GetTotalRx() << std::endl;
    Simulator::Destroy();
    return 0;
}
