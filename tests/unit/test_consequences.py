# SPDX-License-Identifier: BSD-3-Clause
"""What the checks say of a node only after its dialog, and which of it keeps the dialog open."""

import pytest
from routed import addressed, drawn

from linklab.editor import edits
from linklab.editor.consequences import caused
from linklab.errors import FieldError


def changed(topology, name, **opts):
    """What a change of these options causes."""
    return caused(topology, edits.set_opts(topology, name, opts), name, opts.get("hostname", name))


@pytest.mark.parametrize(
    ("opts", "key"),
    [
        ({"defaultRoute": "192.168.7.1"}, "defaultRoute"),
        ({"ip": "10.0.7.1/24"}, "defaultRoute"),
        ({"hostname": "a-name-too-long"}, "hostname"),
    ],
)
def test_an_error_that_the_change_caused_is_at_its_field(opts, key):
    """Also where another field is the one that was changed."""
    with pytest.raises(FieldError) as error:
        changed(addressed(), "h1", **opts).refuse("h1")
    assert error.value.key == key


def test_a_static_route_out_of_reach_is_at_the_routes():
    """Of a router, whose routes are another page's."""
    after = addressed(r2=[{"to": "10.0.3.0/24", "via": "10.9.9.9"}])
    with pytest.raises(FieldError, match="in none of its subnets") as error:
        caused(addressed(), after, "r2", "r2").refuse("r2")
    assert error.value.key == "linklab routes"


def test_what_was_wrong_before_keeps_nothing_open():
    """The error is said of another node, was there before, or could not be seen before."""
    wrong = edits.set_opts(addressed(), "h1", {"defaultRoute": "192.168.7.1"})
    for found in (
        changed(wrong, "h1", startCommand="true"),
        changed(wrong, "h1", hostname="pc"),
        changed(wrong, "h2", startCommand="true"),
    ):
        assert found.words == ""
        found.refuse("h1")
    unseen = edits.set_opts(wrong, "h1", {"cpu": "fast"})
    after = edits.set_opts(unseen, "h1", {"cpu": 0.5})
    found = caused(unseen, after, "h1", "h1")
    assert "192.168.7.1 is in none of its subnets" in found.words
    found.refuse("h1")


def test_a_host_may_have_its_gateway_before_it_is_linked():
    """Nothing says yet where the host will be."""
    topology, name = edits.add_node(drawn(), "host", 0, 0)
    changed(topology, name, ip="10.0.9.1/24", defaultRoute="10.0.9.254").refuse(name)


def test_a_warning_keeps_no_dialog_open():
    """Two hosts with one address: people draw that on purpose, too."""
    found = changed(addressed(), "h1", ip="10.0.1.2/24")
    found.refuse("h1")
    assert found.words.startswith("host h2: has the address 10.0.1.2 ")
    assert changed(addressed(), "h1", ip="10.0.1.3/24").words == ""
