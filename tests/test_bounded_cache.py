"""A cache never holds more than it was given room for."""

from gateway_core.bounded_cache import BoundedCache


def test_what_was_kept_first_makes_room() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    for number, key in enumerate("abc"):
        assert cache.keep(key, number) == number
    assert dict(cache) == {"b": 1, "c": 2}


def test_to_keep_a_key_again_takes_no_room() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    for number, key in enumerate("aba"):
        cache.keep(key, number)
    assert dict(cache) == {"a": 2, "b": 1}
