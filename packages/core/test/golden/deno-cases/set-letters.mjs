/** What the cases of lists find in the database. */
export async function setLetters({ kv }) {
  const atomic = kv.atomic();
  for (const letter of ["a", "b", "c", "d"]) atomic.set(["k", letter], letter);
  atomic.set(["k"], 0).set(["l"], 1).set(["k", "b", 1], 2);
  await atomic.commit();
}
