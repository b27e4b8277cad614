// What is done to a database of users, the same for every way to talk to it.
import { colors, shuffledUsers, userCount, userData } from "./rows.mjs";

const inFlight = 64;
export const perCall = { one: 200, page: 5, inFlight: inFlight * 8 };

/** Finds one user after another by a field, in an order that is random and the same for all. */
export function findUsers(find, field) {
  return forUsers((user) => find(user[field]));
}

/** Does something for one user after another. */
export function forUsers(operation) {
  return oneAfterAnother(inTurn(shuffledUsers()), operation, perCall.one);
}

/** Reads the hundred users of one color after another. */
export function findColors(find) {
  return oneAfterAnother(inTurn(colors), find, perCall.page);
}

/** Creates one user after another. */
export function createUsers(create) {
  return oneAfterAnother(freshUser, create, perCall.one);
}

/** Creates users, 64 of them at any time. */
export function createUsersTogether(create) {
  return calls(freshUser, perCall.inFlight, async (users) => {
    let next = 0;
    const createInTurn = async () => {
      while (next < users.length) await create(users[next++]);
    };
    await Promise.all(Array.from({ length: inFlight }, createInTurn));
  });
}

/** Changes the color of one user after another, to the next color each time. */
export function changeColors(change) {
  const shuffled = shuffledUsers();
  let count = 0;
  const next = () => {
    const { id, favoriteColor } = shuffled[count % userCount];
    const times = Math.floor(count++ / userCount) + 1;
    return [id, colors[(colors.indexOf(favoriteColor) + times) % colors.length]];
  };
  return oneAfterAnother(next, ([id, color]) => change(id, color), perCall.one);
}

/** Awaits each operation if it returns a promise. Calls of SQLite are synchronous. */
function oneAfterAnother(makeInput, operation, count) {
  return calls(makeInput, count, async (inputs) => {
    for (const input of inputs) {
      const answer = operation(input);
      if (answer instanceof Promise) await answer;
    }
  });
}

/**
 * Returns a mitata benchmark whose calls do `count` operations. Making the inputs is not measured.
 */
function calls(makeInput, count, bench) {
  return function* benchmark() {
    yield { 0: () => Array.from({ length: count }, makeInput), bench };
  };
}

function inTurn(values) {
  let next = 0;
  return () => values[next++ % values.length];
}

let created = userCount;

/** A user that no database has. */
function freshUser() {
  return userData(created++);
}
