// SPDX-License-Identifier: Apache-2.0

//! Time. Nanoseconds since 1970 exist on the wire only (W-311).

/// A span of domain time. It may be negative. Arithmetic stops at the ends instead of wrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanoseconds: i64,
}

impl Duration {
    /// A number of nanoseconds.
    pub const fn nanoseconds(n: i64) -> Self {
        Duration { nanoseconds: n }
    }

    /// A number of milliseconds.
    pub const fn milliseconds(n: i64) -> Self {
        Duration { nanoseconds: n.saturating_mul(1_000_000) }
    }

    /// A number of seconds.
    pub const fn seconds(n: i64) -> Self {
        Duration { nanoseconds: n.saturating_mul(1_000_000_000) }
    }

    /// The length as a number.
    pub const fn as_nanoseconds(self) -> i64 {
        self.nanoseconds
    }
}

/// An instant of domain time, to the nanosecond, between the years 1677 and 2262. No function makes one from a number: an instant comes from a
/// column, from [`crate::Call::now`], from saved state, or lies a [`Duration`] after [`Time::EPOCH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    pub(crate) since_epoch: i64,
}

impl Time {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Time = Time { since_epoch: 0 };

    /// How long after `other` the instant lies.
    pub const fn since(self, other: Time) -> Duration {
        Duration { nanoseconds: self.since_epoch.saturating_sub(other.since_epoch) }
    }
}

impl core::ops::Add<Duration> for Time {
    type Output = Time;

    fn add(self, d: Duration) -> Time {
        Time { since_epoch: self.since_epoch.saturating_add(d.nanoseconds) }
    }
}

/// What [`crate::Call::after`] gave and `on_timeout` gets. Keep it in an `Option`; a new instance has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub(crate) handle: i64,
}
