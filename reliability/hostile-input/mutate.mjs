/** Numbers that lie at the limits of lengths and tags. */
const limits = [0x00, 0x01, 0x7f, 0x80, 0xc1, 0xdc, 0xdd, 0xdf, 0xfe, 0xff];
const maxBytes = 100_000;

/**
 * Returns changed bytes: up to four changes of bytes that are valid, or random bytes.
 *
 * @param others bytes of the same kind, of which parts are inserted.
 */
export function mutate(bytes, others, random) {
  if (random.next() < 0.05) return randomBytes(random.below(64), random);
  let changed = Buffer.from(bytes);
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    changed = random.pick(mutations)(changed, random, others);
    if (changed.length > maxBytes) changed = changed.subarray(0, maxBytes);
  }
  return new Uint8Array(changed);
}

const mutations = [
  function flip(bytes, random) {
    if (bytes.length > 0) bytes[random.below(bytes.length)] ^= 1 << random.below(8);
    return bytes;
  },
  function replace(bytes, random) {
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.pick(limits);
    return bytes;
  },
  function overwrite(bytes, random) {
    const start = random.below(bytes.length + 1);
    const run = randomBytes(random.below(9), random);
    run.copy(bytes, start);
    return bytes;
  },
  function cut(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function remove(bytes, random) {
    const [start, end] = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  function insert(bytes, random) {
    const at = random.below(bytes.length + 1);
    const added = randomBytes(1 + random.below(9), random);
    return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
  },
  function splice(bytes, random, others) {
    const at = random.below(bytes.length + 1);
    const other = Buffer.from(random.pick(others));
    const [start, end] = place(other, random);
    return Buffer.concat([bytes.subarray(0, at), other.subarray(start, end), bytes.subarray(at)]);
  },
  function repeat(bytes, random) {
    const [start, end] = place(bytes, random);
    const times = random.pick([2, 3, 10, 1000]);
    const repeated = Array.from({ length: times }, () => bytes.subarray(start, end));
    return Buffer.concat([bytes.subarray(0, start), ...repeated, bytes.subarray(end)]);
  },
];

/** Returns a part of bytes, which is mostly short. */
function place(bytes, random) {
  const start = random.below(bytes.length + 1);
  const length = random.next() < 0.7 ? 1 + random.below(8) : random.below(bytes.length + 1);
  return [start, Math.min(bytes.length, start + length)];
}

function randomBytes(length, random) {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
