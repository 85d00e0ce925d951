# SPDX-License-Identifier: BSD-3-Clause
"""Here-documents of startup files on one line: bash does the same with both."""

import subprocess

import pytest

from linklab.exchange import containerlab, kathara
from linklab.exchange.heredoc import folded

SCRIPTS = {
    "literal": "cat <<'EOF'\nhostname r1\n!\n it's $HOME `date` \\\\ \"x\"\n\n# no comment\nEOF\necho after",
    "replaced": 'A=7\ncat <<EOF\n$A "$A" \\$A \\\\ $((A + 1)) \\" `echo b`\na \\\ngoes on\nit\'s\nEOF\necho after',
    "tabs": "cat <<-EOF\n\tone\n\t\ttwo\n\tEOF\necho after",
    "in the midst": "true && cat <<EOF | tr a-z A-Z && echo done\none\nEOF\necho after",
    "two": "cat <<A - <<B\nnot read\nA\nread\nB\necho after",
    "descriptor": "cat /dev/fd/3 3<<EOF\nthree\nEOF",
    "empty": "cat <<EOF\nEOF\necho after",
    "one empty line": "cat <<EOF\n\nEOF\necho after",
    "not ended": "cat <<EOF\none\ntwo",
    "other words": 'cat <<"END OF IT"\n$x\nEND OF IT\ncat <<\\E\n$y\nE',
    "no document": "echo $((1 << 2)) '<<EOF' \"<<EOF\" # <<EOF\ncat <<< word\necho a\\<b",
    "loop": "for i in 1 2; do cat <<EOF\n$i\nEOF\ndone",
}


def shown(script):
    """What bash prints."""
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=10).stdout


@pytest.mark.parametrize("name", SCRIPTS)
def test_bash_does_the_same_with_the_folded_script(name):
    """And no document is left in it."""
    script = SCRIPTS[name]
    lines = folded(script.split("\n"))
    assert shown("\n".join(lines)) == shown(script)
    assert shown(script)
    if name != "no document":
        assert len(lines) < len(script.split("\n"))
    else:
        assert lines == script.split("\n")


def test_a_here_document_of_a_startup_file_becomes_part_of_the_start_command():
    """Regression: its lines were typed as commands. Interfaces get their new names in it as elsewhere."""
    files = {
        "lab.conf": "r1[0]=A\npc1[0]=A\n",
        "pc1.startup": "ip addr add 10.0.0.2/24 dev eth0\n"
        "cat > /etc/x.conf <<EOF\ninterface eth0\n ip ospf cost 5\nEOF\n"
        "ip route add default via 10.0.0.1\n",
    }
    found = kathara.load(files, "x")
    (host,) = [host for host in found.topology.hosts if host.name == "pc1"]
    assert host.opts["ip"] == "10.0.0.2/24"
    assert host.opts["defaultRoute"] == "10.0.0.1"
    assert host.opts["startCommand"] == "cat > /etc/x.conf <<< 'interface pc1-eth0'$'\\n'' ip ospf cost 5'"


def test_a_here_document_of_containerlab_becomes_part_of_the_start_command():
    """There a line of "exec" may be a script of several."""
    text = (
        "name: x\ntopology:\n  nodes:\n    a:\n      kind: linux\n      exec:\n        - |\n"
        "          cat > /tmp/x <<EOF\n          one\n          EOF\n          echo two\n"
        "    b: {kind: linux}\n  links:\n    - endpoints: ['a:eth1', 'b:eth1']\n"
    )
    (host,) = [host for host in containerlab.load(text, "x").topology.hosts if host.name == "a"]
    assert host.opts["startCommand"] == "cat > /tmp/x <<< one; echo two"


def test_what_only_bash_understands_is_passed_to_bash():
    """Of an export for containerlab, whose containers may have a sh that does not."""
    text = "name: x\ntopology:\n  nodes:\n    a: {kind: linux, exec: ['LINE']}\n    b: {kind: linux}\n"
    text += "  links:\n    - endpoints: ['a:eth1', 'b:eth1']\n"
    for line, shell in (("cat <<< one", "bash -c"), ("cat /etc/hosts | wc", "sh -c")):
        exported = containerlab.dump(containerlab.load(text.replace("LINE", line), "x").topology, "x")
        (there,) = exported.files.values()
        assert f"{shell} '{line}'" in there
