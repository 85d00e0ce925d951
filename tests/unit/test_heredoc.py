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
    "quotes in commands": 'cat <<EOF\n$(echo "a b") "c"\n`echo "d  e"`\n`echo \\"f`\nEOF\necho after',
    "quotes in parameters": 'cat <<EOF\n${Y:-"d"} ${Y:-\'e\'} ${Y:-$(echo "f  g")} ${HOME:+\\"h}\nEOF\necho after',
    "parentheses": 'cat <<EOF\n$(echo ")" \'"\') $((2 * (3 + 4))) $[1 + 2] \\$(no)\nEOF\necho after',
    "command over two lines": "cat <<EOF\nit's $(echo one\necho two) \\\n!\nEOF\necho after",
    "document in a document": 'cat <<EOF\n$(cat <<A\n"x"\nA\n)\nEOF\necho after',
    "hard, with tabs": 'cat <<-EOF | tr a-z A-Z\n\t$(echo "a  b")\n\t\tc\n\tEOF\necho after',
    "hard, descriptor": 'cat /dev/fd/3 3<<EOF && echo done\n$(echo "a  b")\nEOF',
    "hard, loop": 'for i in 1 2; do cat <<EOF\n$(echo "$i  b")\nEOF\ndone',
    "hard, not ended": 'cat <<EOF\n$(echo "a  b")',
    "hard, empty lines": 'cat <<EOF\n\n$(echo "a  b")\n\n\nEOF\necho after',
    "goes on": "cat <<-EOF\n\ta\\\n\tb\\\nEOF\n\tc\n\tEOF\ncat <<'EOF'\nd\\\nEOF\necho after",
    "in a command": 'x="$(cat <<EOF\none "two\nEOF\n)"; echo "$x"\ncat <<EOF\nthree\nEOF',
    "after quotes": "echo \"a\n'b\" 'c\n\"d' $'it\\'s'\ncat <<EOF\ne\nEOF\necho after",
    "after a comment": "echo a # it's\ncat <<EOF\nb\nEOF",
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


QUOTED = {
    'echo "a\n<<EOF\nb"\necho after': """echo "a"$'\\n'"<<EOF"$'\\n'"b"; echo after""",
    "echo 'a\n<<EOF\n\nb'\necho after": """echo 'a'$'\\n''<<EOF'$'\\n'''$'\\n''b'; echo after""",
    'echo "a \\\n<<EOF"\necho after': 'echo "a <<EOF"; echo after',
}


@pytest.mark.parametrize("script", QUOTED)
def test_a_quotation_over_several_lines_is_no_document(script):
    """Regression: the quote was forgotten at the line's end, and the lines after `<<EOF` were swallowed."""
    assert shown("\n".join(folded(script.split("\n")))) == shown(script)
    files = {"lab.conf": "pc1[0]=A\npc2[0]=A\n", "pc1.startup": script}
    text = "name: x\ntopology:\n  nodes:\n    pc1:\n      kind: linux\n      exec:\n        - |\n"
    text += "".join(f"          {line}\n" for line in script.split("\n"))
    text += "    b: {kind: linux}\n  links:\n    - endpoints: ['pc1:eth1', 'b:eth1']\n"
    for found in (kathara.load(files, "x"), containerlab.load(text, "x")):
        (host,) = [host for host in found.topology.hosts if host.name == "pc1"]
        assert host.opts["startCommand"] == QUOTED[script]
        assert shown(host.opts["startCommand"]) == shown(script)


def test_a_document_with_commands_is_evaluated_when_it_is_read():
    """With the new names of interfaces in it, as a start command of one line."""
    files = {
        "lab.conf": "pc1[0]=A\npc2[0]=A\n",
        "pc1.startup": 'cat > x.conf <<EOF\neth0 $(echo "a  b")\nEOF\n',
    }
    (host,) = [host for host in kathara.load(files, "x").topology.hosts if host.name == "pc1"]
    document = "'cat <<EOF'$'\\n''pc1-eth0 $(echo \"a  b\")'$'\\n'EOF"
    assert host.opts["startCommand"] == f"cat > x.conf < <(eval {document})"


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
    for line, shell in (("cat <<< one", "bash -c"), ("cat < <(echo one)", "bash -c"), ("cat /etc/hosts | wc", "sh -c")):
        exported = containerlab.dump(containerlab.load(text.replace("LINE", line), "x").topology, "x")
        (there,) = exported.files.values()
        assert f"{shell} '{line}'" in there
