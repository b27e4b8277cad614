import { checksOf, type Definition, type Place } from "./place.js";

const year = 365 * 24 * 60 * 60 * 1000;
/** The present of generated rows. A fixed time, so that a seed repeats exactly. */
export const seedTime: number = Date.UTC(2026, 0, 1);

/** Names of times that follow the creation of a row. */
const later = /(expire|expiry|due|end|until|update|modif|delete|close|finish|complete|publish)/i;

/** Returns a time in the two years before {@link seedTime}, if the schema allows it. */
export function dateValue(def: Definition, place: Place): Date {
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { check, value, inclusive } of checksOf(def)) {
    const time = new Date(value as Date | number | string).getTime() + (inclusive ? 0 : 1);
    if (check === "greater_than") low = Math.max(low, time);
    else if (check === "less_than") high = Math.min(high, time - (inclusive ? 0 : 2));
  }
  const min = Math.max(low, Math.min(defaultStart(place), high - year));
  const max = Math.min(high, Math.max(min + year, min));
  const time = place.fakes.faker.number.int({ min: 0, max: 1_000_000 }) / 1_000_000;
  return new Date(Math.floor(min + time * Math.max(0, max - min)));
}

function defaultStart({ path, fakes }: Place): number {
  const name = String(path.at(-1));
  if (/(birth|born)/i.test(name)) {
    return seedTime - fakes.faker.number.int({ min: 18, max: 80 }) * year;
  }
  return later.test(name) ? seedTime - year : seedTime - 2 * year;
}
