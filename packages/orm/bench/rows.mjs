// The rows of the benchmark: users with a unique email and a favorite color that 100 users share.
import { ulid } from "@keywright/core";

/** The number of users that the databases hold before the measurement. */
export const userCount = 10_000;
export const usersPerColor = 100;
export const colors = Array.from({ length: userCount / usersPerColor }, (_, i) => `color-${i}`);

const since = Date.UTC(2026, 0, 1);

/** The users that are loaded before the measurement. Their ids are in the order of creation. */
export const users = Array.from({ length: userCount }, (_, number) => ({
  id: ulid(since + number * 1000),
  ...userData(number),
}));

/** Returns a user without an id. */
export function userData(number) {
  return {
    name: `Ada Lovelace ${number}`,
    email: `ada${number}@example.com`,
    // Consecutive users have different colors.
    favoriteColor: colors[number % colors.length],
    age: 18 + (number % 60),
    createdAt: new Date(since + number * 1000),
  };
}

/** Returns the users in a random order that is always the same (Fisher-Yates with xorshift32). */
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
