/** The keys of all entries that a list has left. */
export async function keysOf(list) {
  const keys = [];
  for await (const entry of list) keys.push(entry.key);
  return keys;
}

/** The cursors behind each entry of a list, and at its end. */
export async function cursorsOf(list) {
  const cursors = [];
  for await (const _ of list) cursors.push(list.cursor);
  cursors.push(list.cursor);
  return cursors;
}
