"""Which addresses a customer's provider may have, as tables."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.errors import DestinationBlocked
from gateway_core.loopback import literal
from gateway_core.outbound import DestinationPolicy

ALWAYS = """
0.0.0.0 0.255.255.255 127.0.0.1 127.255.255.255 169.254.0.1 169.254.169.254 224.0.0.1
239.255.255.255 255.255.255.255 100.100.100.200 168.63.129.16 192.0.0.192 :: ::1 fe80::1 febf::1
fec0::1 feff::1 ff02::1 fd00:ec2::254 fd20:ce::254 ::ffff:127.0.0.1 ::ffff:169.254.169.254
::ffff:100.100.100.200 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe
64:ff9b:1::7f00:1 64:ff9b:1:7f00:0:100:: 2002:7f00:1:: 2002:a9fe:a9fe::1
64:ff9b:1:ab7f:0:1:: 64:ff9b:1:abcd:7f:0:100:: 64:ff9b:1:808:8:800:0:1
2001:0:4136:e378:8000:63bf:80ff:fffe 2130706433 0177.0.0.1 0x7f.1 0x7f000001 127.1 127.0.1
017700000001 0 0x0 127.0.0.1. fe80::1%eth0 FE80::1 0000:0000:0000:0000:0000:0000:0000:0001
0xa9fea9fe 2852039166 192.0.0.1 192.0.0.193 192.88.99.1 198.18.0.1 198.19.255.255 240.0.0.1
254.255.255.255 ::ffff:240.0.0.1 64:ff9b::198.18.0.1 2002:c612:1:: 100::1 100:0:0:1::1 2001:2::1
2001:10::1 2001:1ff::1 2001:db8::1 3fff::1 5f00::1 4000::1 1::1 200::1 e000::1 64:ff9b:2::1
"""
PRIVATE = """
10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 100.64.0.1
100.127.255.255 fc00::1 fdff::1 ::ffff:10.0.0.1 ::10.0.0.1 64:ff9b::10.0.0.1 2002:a00:1::
167772161 012.0.0.1 0xa.1 10.1 192.168.257 100.100.100.201
"""
PUBLIC = """
1.1.1.1 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0
172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0 168.63.129.17
192.0.0.9 192.0.0.10 198.51.100.7 192.0.2.1 198.17.255.255 198.20.0.0 192.88.98.255
223.255.255.255 203.0.113.7 2606:4700::1111 2001:4860:4860::8888 ::ffff:1.1.1.1
64:ff9b::8.8.8.8 2002:808:808::1 2001:3::1 2001:20::1 2001:200::1 3ffe::1 134744072 010.0.0.1 8.8
"""
OPEN = DestinationPolicy(allow_private=True)
STRICT = DestinationPolicy(allow_private=False)


def blocked(policy: DestinationPolicy, address: str) -> bool:
    try:
        policy.check_addresses("provider.example", [address])
    except DestinationBlocked:
        return True
    return False


@pytest.mark.parametrize("address", ALWAYS.split())
def test_what_is_forbidden_stays_forbidden_where_private_is_allowed(address) -> None:
    assert blocked(STRICT, address)
    assert blocked(OPEN, address)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses_are_allowed_only_on_request(address) -> None:
    assert blocked(STRICT, address)
    assert not blocked(OPEN, address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public_addresses_are_allowed(address) -> None:
    assert not blocked(STRICT, address)
    assert not blocked(OPEN, address)


@pytest.mark.parametrize("address", ["", "name.example", "1.2.3.4.5", "::g", "256.256.256.256"])
def test_what_is_no_address_is_blocked(address) -> None:
    assert blocked(OPEN, address)


@pytest.mark.parametrize(
    "name",
    [
        "metadata",
        "METADATA",
        "metadata.",
        "metadata.google.internal",
        "Metadata.Google.Internal.",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    ],
)
def test_the_names_of_metadata_services_are_blocked(name) -> None:
    with pytest.raises(DestinationBlocked):
        OPEN.check_name(name)


@pytest.mark.parametrize("name", ["metadata.example", "my-metadata", "google.internal", "goog"])
def test_other_names_are_for_the_resolver_to_judge(name) -> None:
    STRICT.check_name(name)


def test_one_bad_address_among_good_ones_blocks_and_only_the_log_names_it(caplog) -> None:
    caplog.set_level(logging.WARNING)
    with pytest.raises(DestinationBlocked) as caught:
        STRICT.check_addresses("provider.example", ["1.1.1.1", "10.9.8.7", "2606:4700::1111"])
    assert "10.9.8.7" not in str(caught.value)
    assert "10.9.8.7" in caplog.text
    assert {record.name for record in caplog.records} == {"s1gw.outbound"}


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_means_the_same_in_every_ipv6_dress(address) -> None:
    number = int(address)
    dresses = [
        f"::ffff:{address}",
        f"64:ff9b::{address}",
        f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1",
        f"::{address}",
        str(number),
        hex(number),
    ]
    for policy in (STRICT, OPEN):
        verdict = blocked(policy, str(address))
        assert [blocked(policy, dress) for dress in dresses] == [verdict] * len(dresses)


@pytest.mark.parametrize("host", ["provider.example", "example.1", "a.b.c.d", "1.2.3.4.example"])
def test_a_name_is_no_literal(host) -> None:
    assert literal(host) is None
