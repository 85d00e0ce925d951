#!/usr/bin/env python3
"""QUIC with aioquic between two hosts over 10 Mbit/s, 40 ms, and 2 % loss: 500 kB on one stream arrive intact."""

from mininet.link import TCLink
from mininet.net import Mininet

SERVER = """
import asyncio
from aioquic.asyncio import serve
from aioquic.quic.configuration import QuicConfiguration

async def answer(reader, writer):
    asked = int(await reader.read())
    writer.write(b"q" * asked)
    writer.write_eof()

async def main():
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["bytes"])
    configuration.load_cert_chain("/tmp/cert.pem", "/tmp/key.pem")
    await serve("10.0.0.2", 4433, configuration=configuration,
                stream_handler=lambda r, w: asyncio.ensure_future(answer(r, w)))
    print("listening", flush=True)
    await asyncio.Future()

asyncio.run(main())
"""
CLIENT = """
import asyncio, ssl, time
from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration

async def main():
    configuration = QuicConfiguration(alpn_protocols=["bytes"], verify_mode=ssl.CERT_NONE)
    begin = time.monotonic()
    async with connect("10.0.0.2", 4433, configuration=configuration) as client:
        await client.ping()
        print(f"handshake and ping: {1000 * (time.monotonic() - begin):.0f} ms")
        reader, writer = await client.create_stream()
        writer.write(b"500000")
        writer.write_eof()
        begin = time.monotonic()
        data = await reader.read()
        seconds = time.monotonic() - begin
        print(f"{len(data)} bytes at {len(data) * 8 / seconds / 1e6:.1f} Mbit/s")
        print("lost packets were sent again" if data == b"q" * 500000 else "damaged")

asyncio.run(main())
"""

net = Mininet(controller=None, link=TCLink)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=10, delay="20ms", loss=2)
net.start()
for name, text in (("server", SERVER), ("client", CLIENT)):
    with open(f"/tmp/{name}.py", "w") as file:
        file.write(text)
h2.cmd("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=h2 "
       "-keyout /tmp/key.pem -out /tmp/cert.pem 2>/dev/null")
h2.cmd("python3 /tmp/server.py > /tmp/server.log 2>&1 &")
h2.cmd("until grep -q listening /tmp/server.log; do sleep 0.1; done")
print(h1.cmd("timeout 60 python3 /tmp/client.py"))
h2.cmd("kill %python3; cat /tmp/server.log")
net.stop()
