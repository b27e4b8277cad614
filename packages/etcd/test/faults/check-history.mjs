// Checks that recorded calls are strictly serializable. The versionstamps of the commits are the
// order to prove: each call must see the commits before it in this order, and no call may come
// after one that began when it had ended.

/**
 * Returns what contradicts strict serializability, as sentences. Empty if nothing does.
 *
 * `history.writes`: compare-and-set calls on registers, `{ key, value, previous, stamp, start, end }`
 * with the versionstamp that each has checked. `stamp` is undefined if the outcome is unknown.
 * `history.reads`: `{ key, stamp, value, start, end }`.
 * `history.increments`: `{ id, stamp, start, end }` of commits that add 1 and set a marker.
 * `history.final`: `{ registers: [{ key, value, stamp }], counter, markers: [{ id, stamp }], log }`.
 * `log` has the increments that also set a key that ends in their versionstamp, `{ id, stamp }`.
 */
export function contradictions({ writes, reads, increments, final }) {
  return [
    ...chainProblems(writes, final.registers),
    ...orderProblems([...writes, ...increments].filter(({ stamp }) => stamp !== undefined)),
    ...readProblems(writes, reads),
    ...counterProblems(increments, final),
  ];
}

/** Every acknowledged write replaces the version that it has checked, and is replaced once. */
function chainProblems(writes, registers) {
  const problems = [];
  const known = writes.filter(({ stamp }) => stamp !== undefined);
  const replacedBy = new Map();
  for (const write of known) {
    const from = `${write.key} ${write.previous}`;
    if (replacedBy.has(from)) problems.push(`${from} was replaced twice`);
    replacedBy.set(from, write);
    if (write.previous !== null && write.previous >= write.stamp)
      problems.push(`${write.key} ${write.stamp} is not after what it replaces`);
  }
  const unknownValues = new Set(
    writes.filter(({ stamp }) => stamp === undefined).map(({ value }) => value),
  );
  const stamps = new Set(known.map(({ key, stamp }) => `${key} ${stamp}`));
  for (const write of known) {
    const isReplaced = replacedBy.has(`${write.key} ${write.stamp}`);
    const end = registers.find(({ key }) => key === write.key);
    const isFinal = end?.stamp === write.stamp && end.value === write.value;
    // A write of unknown outcome may have replaced it.
    const mayBeReplaced = [...unknownValues].some((value) =>
      writes.some((each) => each.value === value && each.previous === write.stamp),
    );
    if (!isReplaced && !isFinal && !mayBeReplaced)
      problems.push(`${write.key} ${write.stamp} was acknowledged and is lost`);
    if (write.previous === null || stamps.has(`${write.key} ${write.previous}`)) continue;
    if (!mayComeFromUnknown(write, writes))
      problems.push(`${write.key} ${write.stamp} replaces a version that nobody wrote`);
  }
  return problems;
}

function mayComeFromUnknown(write, writes) {
  return writes.some(({ stamp, key }) => stamp === undefined && key === write.key);
}

/** A commit that began after another had ended has a higher versionstamp. */
function orderProblems(commits) {
  const problems = [];
  const stamps = new Set(commits.map(({ stamp }) => stamp));
  if (stamps.size !== commits.length) problems.push("two commits have the same versionstamp");
  const byStart = [...commits].sort((a, b) => a.start - b.start);
  const byEnd = [...commits].sort((a, b) => a.end - b.end);
  let highest = "";
  let ended = 0;
  for (const { start, stamp } of byStart) {
    while (ended < byEnd.length && byEnd[ended].end < start) {
      if (byEnd[ended].stamp > highest) highest = byEnd[ended].stamp;
      ended++;
    }
    if (stamp <= highest) problems.push(`${stamp} began after ${highest} had ended`);
  }
  return problems;
}

/** A read returns the last version of its time: not an older one, and none from the future. */
function readProblems(writes, reads) {
  const problems = [];
  const byVersion = new Map(writes.map((write) => [`${write.key} ${write.value}`, write]));
  for (const read of reads) {
    const write = byVersion.get(`${read.key} ${read.value}`);
    if (read.stamp !== null) {
      if (write === undefined) problems.push(`${read.key}: a read returned an unknown value`);
      else if (write.start > read.end) problems.push(`${read.key}: a read returned a later value`);
      else if (write.stamp !== undefined && write.stamp !== read.stamp)
        problems.push(`${read.key}: a read returned another versionstamp than the commit`);
    }
    const newest = writes
      .filter(({ key, end, stamp }) => key === read.key && stamp !== undefined && end < read.start)
      .map(({ stamp }) => stamp)
      .sort()
      .at(-1);
    if ((read.stamp ?? "") < (newest ?? ""))
      problems.push(`${read.key}: a read returned an old value`);
  }
  return problems;
}

/** Each increment sets a marker in the same commit, so that counter and markers agree. */
function counterProblems(increments, { counter, markers, log }) {
  const problems = [];
  const found = new Map(markers.map(({ id, stamp }) => [id, stamp]));
  if (counter !== found.size)
    problems.push(`the counter is ${counter}, but ${found.size} increments were applied`);
  for (const { id, stamp } of log) {
    if (found.get(id) !== stamp) problems.push(`the key of ${id} ends in another versionstamp`);
  }
  for (const { id, stamp } of increments) {
    if (stamp !== undefined && found.get(id) !== stamp)
      problems.push(`the increment ${id} was acknowledged and is lost or was made twice`);
  }
  return problems;
}
