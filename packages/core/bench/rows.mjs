// The rows of the benchmarks, of about 100 bytes each. They are computed from their numbers, so
// that a million rows take no memory while memory is measured.

const colors = ["amber", "blue", "green", "indigo", "red", "teal", "violet", "white"];
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * Returns a generator of pseudorandom whole numbers from 0 to `below`, exclusive (xorshift32). The
 * same seed gives the same numbers.
 */
export function randomIntegers(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Returns an id in the form of a ULID. The ids of consecutive numbers are far apart. */
export function idOf(number) {
  const random = randomIntegers(Math.imul(number + 1, 0x9e3779b1));
  let id = crockford[random(8)];
  while (id.length < 26) id += crockford[random(32)];
  return id;
}

/** Returns the entries of a row as keys and values: the row itself and two index entries. */
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
