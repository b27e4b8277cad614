// The rows of the benchmarks: about 100 bytes each, and computed from their number, so that a million of them are made
// where they are needed and take no memory while memory is measured.

const colors = ["amber", "blue", "green", "indigo", "red", "teal", "violet", "white"];
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A generator of whole numbers from 0 to `below`, exclusive, the same for the same seed (xorshift32). */
export function randomIntegers(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** An id as a ULID has it, of 26 characters: those of neighbouring numbers lie far apart. */
export function idOf(number) {
  const random = randomIntegers(Math.imul(number + 1, 0x9e3779b1));
  let id = crockford[random(8)];
  while (id.length < 26) id += crockford[random(32)];
  return id;
}

/** What is stored for a row: its own entry and two index entries, as keys and values. */
export function entriesOf(number) {
  const id = idOf(number);
  const email = `ada${number}@example.com`;
  const favoriteColor = colors[number % colors.length];
  const row = { id, name: `Ada Lovelace ${number}`, email, favoriteColor };
  return [
    [["users", id], row],
    [["users_by_email", email], id],
    [["users_by_favorite_color", favoriteColor, id], id],
  ];
}
