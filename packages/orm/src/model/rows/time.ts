declare const isTime: unique symbol;
declare const isLifetime: unique symbol;

/** A moment, in milliseconds since 1970. The compiler refuses a number or a {@link Lifetime}. */
export type Time = number & { readonly [isTime]: true };

/** A duration, in whole milliseconds. The compiler refuses a number or a {@link Time}. */
export type Lifetime = number & { readonly [isLifetime]: true };

/** When a row expires: a lifetime after its commit, or at a time. */
export type RowExpiry =
  | { readonly expireIn: Lifetime; readonly expireAt?: undefined }
  | { readonly expireIn?: undefined; readonly expireAt: Time };

export function currentTime(): Time {
  return Date.now() as Time;
}

/** Returns a time that a database reports or that is stored, in milliseconds since 1970. */
export function storedTime(milliseconds: number): Time;
export function storedTime(milliseconds: number | undefined): Time | undefined;
export function storedTime(milliseconds: number | undefined): Time | undefined {
  return milliseconds as Time | undefined;
}

/** Returns the lifetime that a call asks for. Rounded up, because databases accept no fractions. */
export function lifetimeOf(milliseconds: number): Lifetime {
  return Math.ceil(milliseconds) as Lifetime;
}

export function timeAfter(now: Time, lifetime: Lifetime): Time {
  return (now + lifetime) as Time;
}

/** Returns the lifetime that is left until a time: at least one millisecond. */
export function lifetimeUntil(end: Time, now: Time): Lifetime {
  return Math.max(Math.ceil(end - now), 1) as Lifetime;
}
