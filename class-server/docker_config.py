# SPDX-License-Identifier: BSD-3-Clause
"""As jupyterhub_config.py, with a Docker container for each student: docs/class-server.md, "Docker"."""

from pathlib import Path

load_subconfig(str(Path(__file__).with_name("jupyterhub_config.py")))  # noqa: F821 - given by JupyterHub
c = get_config()  # noqa: F821 - so is this

HUB_ADDRESS = "172.17.0.1"  # of this machine on Docker's bridge (ip address show docker0)

c.JupyterHub.spawner_class = "docker"
c.DockerSpawner.image = "linklab-hub"
c.DockerSpawner.cmd = ["lab", "--jupyterhub"]  # after the image's own linklab
c.DockerSpawner.remove = True
c.DockerSpawner.volumes = {"linklab-{username}": "/home/student"}
c.DockerSpawner.mem_limit = "2G"
c.DockerSpawner.cpu_limit = 1.0
# The network's kernel maps its memory executable, and Docker's own /dev/shm is noexec.
c.DockerSpawner.extra_host_config = {
    "tmpfs": {"/tmp": "exec,size=2g"},  # noqa: S108 - the container's
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
}
c.DockerSpawner.use_internal_ip = True

# Containers reach the Hub and the instructor's page by the bridge, not by 127.0.0.1.
c.JupyterHub.hub_ip = HUB_ADDRESS
c.JupyterHub.services[1]["url"] = f"http://{HUB_ADDRESS}:10101"
c.Spawner.environment["LINKLAB_CLASS_URL"] = f"http://{HUB_ADDRESS}:10101/services/class"
