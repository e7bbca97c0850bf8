"""Times of phases: to the minute, in the organizer's zone, stored in UTC."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

AOE = "AoE"
"""Anywhere on Earth: UTC-12, the last place at which a day ends."""
MINUTE = timedelta(minutes=1)


@cache
def zone_names() -> tuple[str, ...]:
    """The zones that an organizer may name, the usual ones first."""
    usual = (AOE, "UTC")
    others = [name for name in available_timezones() if "/" in name and name not in usual]
    return usual + tuple(sorted(others))


def zone_of(name: str) -> tzinfo:
    """The zone of that name. Raises ValueError."""
    if name == AOE:
        return timezone(timedelta(hours=-12), AOE)
    if name not in zone_names():
        raise ValueError(f"{name!r} is not a time zone: expected AoE, UTC, or a name as Europe/Berlin.")
    return ZoneInfo(name)


def in_utc(local: datetime, zone: str) -> datetime:
    """A time on the clocks of a zone, in UTC.

    Raises ValueError for one that these clocks skip, or show twice, when they change.
    """
    # Of an hour that the clocks show twice, fold 0 is the first one and fold 1 the second.
    first = local.replace(tzinfo=zone_of(zone), fold=0).astimezone(UTC)
    second = local.replace(tzinfo=zone_of(zone), fold=1).astimezone(UTC)
    if first == second:
        return first
    change = "does not exist" if first > second else "is there twice"
    raise ValueError(f"{local:%H:%M} {change} on that day in {zone}, where clocks change. Name another time.")


def local_text(moment: datetime, zone: str) -> str:
    """A moment in words, on the clocks of a zone and in UTC: "31 May 2027, 23:59 AoE (1 June, 11:59 UTC)"."""
    utc = moment.astimezone(UTC)
    if zone == "UTC":
        return f"{_day(utc)} {utc:%Y, %H:%M} UTC"
    local = moment.astimezone(zone_of(zone))
    day = ""
    if local.date() != utc.date():
        day = f"{_day(utc)}, "
    return f"{_day(local)} {local:%Y, %H:%M} {zone} ({day}{utc:%H:%M} UTC)"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B}"
