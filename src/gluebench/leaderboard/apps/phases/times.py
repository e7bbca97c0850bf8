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
    return (*usual, *sorted(name for name in available_timezones() - {*usual} if "/" in name))


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
    both = [local.replace(tzinfo=zone_of(zone), fold=fold).astimezone(UTC) for fold in (0, 1)]
    if both[0] == both[1]:
        return both[0]
    change = "does not exist" if both[0] > both[1] else "is there twice"
    raise ValueError(f"{local:%H:%M} {change} on that day in {zone}, where clocks change. Name another time.")


def local_text(moment: datetime, zone: str) -> str:
    """A moment in words, on the clocks of a zone and in UTC: "31 May 2027, 23:59 AoE (1 June, 11:59 UTC)"."""
    local, utc = moment.astimezone(zone_of(zone)), moment.astimezone(UTC)
    if zone == "UTC":
        return f"{_day(utc)} {utc:%Y, %H:%M} UTC"
    day = "" if local.date() == utc.date() else f"{_day(utc)}, "
    return f"{_day(local)} {local:%Y, %H:%M} {zone} ({day}{utc:%H:%M} UTC)"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B}"
