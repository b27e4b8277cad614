// The rows of the benchmark are users with a unique email and a favorite color, which a hundred of
// them share.
import { ulid } from "@keywright/core";

/** The number of users in a database before anything is measured. */
export const userCount = 10_000;
export const usersPerColor = 100;
export const colors = Array.from({ length: userCount / usersPerColor }, (_, i) => `color-${i}`);

const since = Date.UTC(2026, 0, 1);

/** The users that are there from the start, with ids in the order of their creation. */
export const users = Array.from({ length: userCount }, (_, number) => ({
  id: ulid(since + number * 1000),
  ...userData(number),
}));

/** A user without an id. */
export function userData(number) {
  return {
    name: `Ada Lovelace ${number}`,
    email: `ada${number}@example.com`,
    // Users of one color are not neighbours.
    favoriteColor: colors[number % colors.length],
    age: 18 + (number % 60),
    createdAt: new Date(since + number * 1000),
  };
}

/**
 * Returns the users in a random order that is always the same: a Fisher-Yates shuffle by
 * xorshift32.
 */
export function shuffledUsers() {
  const shuffled = [...users];
  let state = 7;
  for (let last = shuffled.length - 1; last > 0; last--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled;
}
