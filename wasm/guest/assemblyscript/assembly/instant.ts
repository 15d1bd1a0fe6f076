// SPDX-License-Identifier: Apache-2.0

// Time. Nanoseconds since 1970 exist on the wire only: no function that index.ts offers makes an instant from a number (W-311).

// A span of domain time. It may be negative. Arithmetic stops at the ends instead of wrapping.
@final
export class Duration {
  private constructor(private n: i64) {}

  static nanoseconds(n: i64): Duration {
    return new Duration(n);
  }

  static milliseconds(n: i64): Duration {
    return new Duration(times(n, 1000000));
  }

  static seconds(n: i64): Duration {
    return new Duration(times(n, 1000000000));
  }

  inNanoseconds(): i64 {
    return this.n;
  }
}

function times(n: i64, unit: i64): i64 {
  if (n > i64.MAX_VALUE / unit) return i64.MAX_VALUE;
  if (n < i64.MIN_VALUE / unit) return i64.MIN_VALUE;
  return n * unit;
}

// An instant of domain time, to the nanosecond, between the years 1677 and 2262. It comes from a column, from Call.now, from saved state, or lies a
// Duration after the epoch, which is what the constructor makes: 1970-01-01T00:00:00Z.
@final
export class Time {
  private ns: i64 = 0;

  static epoch(): Time {
    return new Time();
  }

  // The instant that lies d later, or the last or first that there is.
  plus(d: Duration): Time {
    const n = d.inNanoseconds();
    let sum = this.ns + n;
    if (n > 0 && sum < this.ns) sum = i64.MAX_VALUE;
    if (n < 0 && sum > this.ns) sum = i64.MIN_VALUE;
    return timeOfWire(sum);
  }

  // How long after another instant this one lies.
  since(other: Time): Duration {
    let d = this.ns - other.ns;
    if (this.ns > other.ns && d < 0) d = i64.MAX_VALUE;
    if (this.ns < other.ns && d > 0) d = i64.MIN_VALUE;
    return Duration.nanoseconds(d);
  }

  isBefore(other: Time): bool {
    return this.ns < other.ns;
  }

  equals(other: Time): bool {
    return this.ns == other.ns;
  }
}

// The form on the wire, for the kit alone.
export function timeOfWire(ns: i64): Time {
  const t = new Time();
  store<i64>(changetype<usize>(t), ns, offsetof<Time>("ns"));
  return t;
}

export function wireOfTime(t: Time): i64 {
  return load<i64>(changetype<usize>(t), offsetof<Time>("ns"));
}

// What Call.after gave and onTimeout gets. A new instance has none.
@final
export class Timeout {
  private handle: i64 = 0;

  equals(other: Timeout): bool {
    return this.handle == other.handle;
  }
}

export function timeoutOfWire(handle: i64): Timeout {
  const t = new Timeout();
  store<i64>(changetype<usize>(t), handle, offsetof<Timeout>("handle"));
  return t;
}
