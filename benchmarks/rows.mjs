// The rows that all contenders store: users with a unique email, a favorite color that 100 users
// share, and for the first 1,000 users ten posts each.
import { ulid } from "@keywright/core";

export const usersPerColor = 100;
export const postsPerAuthor = 10;
/** The most entries of the key-value store that a list reads. */
export const listedEntries = 1000;
const authors = 1000;
const since = Date.UTC(2026, 0, 1);

/** Ids are in the order of the numbers. */
export function idOf(number) {
  return ids[number] ?? ulid(since + number * 1000);
}

/** Made once, because the random part of an id differs each time. */
const ids = [];

/** Returns the user with a number. Consecutive users have different colors. */
export function userOf(number, count) {
  ids[number] ??= ulid(since + number * 1000);
  return {
    id: ids[number],
    name: `Ada Lovelace ${number}`,
    email: `ada${number}@example.com`,
    favoriteColor: colorOf(number, count),
    age: 18 + (number % 60),
    createdAt: new Date(since + number * 1000),
  };
}

export function colorCount(count) {
  return Math.max(1, Math.floor(count / usersPerColor));
}

export function colorOf(number, count) {
  return `color-${number % colorCount(count)}`;
}

export function authorCount(count) {
  return Math.min(authors, count);
}

export function postOf(author, n) {
  return {
    id: `${idOf(author)}-${n}`,
    authorId: idOf(author),
    title: `Notes on the engine ${n}`,
  };
}

/** A random number below `end`, from a sequence that is the same in each run. */
export class Sequence {
  #state = 7;

  below(end) {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % end;
  }
}
