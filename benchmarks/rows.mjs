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

const customers = 100;
const months = 24;

/** Consecutive orders are of different customers and months. There are as many as users. */
export function orderOf(number) {
  return {
    id: `order-${String(number).padStart(9, "0")}`,
    customer: `customer-${number % customers}`,
    month: `month-${String(Math.floor(number / customers) % months).padStart(2, "0")}`,
    cents: (number * 37) % 10_000,
  };
}

/** The number of orders and the cents of each month of a customer, in the order of the months. */
export function totalsOf(customer, count) {
  const totals = new Map();
  for (let number = 0; number < count; number++) {
    const order = orderOf(number);
    if (order.customer !== customer) continue;
    const total = totals.get(order.month) ?? { month: order.month, count: 0, cents: 0 };
    total.count++;
    total.cents += order.cents;
    totals.set(order.month, total);
  }
  return [...totals.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
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
