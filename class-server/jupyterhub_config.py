# SPDX-License-Identifier: BSD-3-Clause
"""A JupyterHub for a class, without root: accounts in the Hub, each student's server under bubblewrap.

Start it in the folder that shall hold accounts and students' work: jupyterhub -f …/class-server/jupyterhub_config.py
What each part is for: docs/class-server.md
"""

import sys
from pathlib import Path

import nativeauthenticator

c = get_config()  # noqa: F821 - given by JupyterHub

INSTRUCTORS = {"instructor"}
CLASS_ADDRESS = "http://127.0.0.1:10101"

c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.spawner_class = "linklab.classroom.spawner.BubblewrapSpawner"
c.BubblewrapSpawner.students_folder = "students"
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 60
c.Spawner.default_url = ""
c.Spawner.environment = {"LINKLAB_CLASS_URL": f"{CLASS_ADDRESS}/services/class"}

# The instructor has an account from the start, whose password is in instructor-passwords.txt; students sign up with a
# password of their own, and the instructor lets them in at /hub/authorize.
c.JupyterHub.authenticator_class = "linklab.classroom.class_accounts.ClassAuthenticator"
c.JupyterHub.template_paths = [str(Path(nativeauthenticator.__file__).parent / "templates")]
c.NativeAuthenticator.open_signup = False
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.allowed_failed_logins = 10
c.Authenticator.admin_users = INSTRUCTORS
c.Authenticator.allow_all = True

# A server that nobody uses ends by itself after half an hour; one that lives too long for any other reason, here.
c.JupyterHub.services = [
    {
        "name": "cull",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=7200", "--max-age=43200"],
    },
    {
        "name": "class",
        "url": CLASS_ADDRESS,
        "command": [sys.executable, "-m", "linklab.classroom.class_page"],
        "oauth_no_confirm": True,
    },
]
c.JupyterHub.load_groups = {"instructors": {"users": sorted(INSTRUCTORS)}}
c.JupyterHub.load_roles = [
    {
        "name": "cull",
        "services": ["cull"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    },
    {"name": "instructor", "groups": ["instructors"], "scopes": ["access:services!service=class"]},
]
