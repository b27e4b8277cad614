/**
 * Checks that a history is strictly serializable, in the order of its versionstamps: the commits
 * are applied one after another to a map. Each commit, each refusal and each read must be right for
 * a state of the map that existed between its start and its end.
 *
 * @param history as `recordHistory` returns it.
 * @returns what is wrong, as sentences. Empty if the history is strictly serializable.
 */
export function checkHistory({ commits, reads, final }) {
  const made = commits
    .filter(({ stamp }) => stamp !== null)
    .sort((a, b) => (a.stamp < b.stamp ? -1 : 1));
  const { states, problems } = replay(made);
  problems.push(...orderProblems(made));
  for (const refused of commits.filter(({ stamp }) => stamp === null)) {
    const [first, last] = windowOf(refused, made);
    const mayRefuse = (state) =>
      refused.checks.some(({ key, stamp }) => stampIn(state, key) !== stamp);
    if (findState(states, first, last, mayRefuse) === undefined)
      problems.push(`a commit was refused although its checks held (${refused.start})`);
  }
  problems.push(...readProblems(reads, made, states));
  if (!final.every((entry) => isIn(states.at(-1), entry)))
    problems.push("the entries at the end are not those of the commits");
  return problems;
}

/** Returns the states before the first commit and after each one. */
function replay(made) {
  const problems = [];
  let state = new Map();
  const states = [state];
  for (const { checks, writes, stamp } of made) {
    for (const check of checks) {
      if (stampIn(state, check.key) !== check.stamp)
        problems.push(`the commit ${stamp} was made although a check did not hold`);
    }
    state = new Map(state);
    for (const { type, key, value } of writes) {
      const before = state.get(String(key))?.value;
      if (type === "delete") state.delete(String(key));
      else
        state.set(String(key), { stamp, value: type === "sum" ? (before ?? 0n) + value : value });
    }
    states.push(state);
  }
  return { states, problems };
}

/** A commit that begins after another has ended has the higher versionstamp. No two are equal. */
function orderProblems(made) {
  const problems = [];
  let latestStart = 0;
  for (const [i, { start, end, stamp }] of made.entries()) {
    if (made[i - 1]?.stamp === stamp) problems.push(`two commits have the versionstamp ${stamp}`);
    if (end < latestStart) problems.push(`the commit ${stamp} comes after one that began later`);
    latestStart = Math.max(latestStart, start);
  }
  return problems;
}

function readProblems(reads, made, states) {
  const problems = [];
  /** The reads that are placed, with the state that each has seen. */
  const placed = [];
  for (const read of [...reads].sort((a, b) => a.start - b.start)) {
    const [first, last] = windowOf(read, made);
    const before = placed.filter(({ end }) => end < read.start).map(({ state }) => state);
    const from = Math.max(first, ...before);
    const state = findState(states, from, last, (each) =>
      read.entries.every((entry) => isIn(each, entry)),
    );
    if (state === undefined) problems.push(problemOfRead(read, states, first, last));
    else placed.push({ end: read.end, state });
  }
  return problems;
}

function problemOfRead({ start, entries }, states, first, last) {
  const isAt = (entry, from, to) =>
    findState(states, from, to, (state) => isIn(state, entry)) !== undefined;
  const isUnknown = entries.some((entry) => !isAt(entry, 0, states.length - 1));
  if (isUnknown) return `a read returned what no commit has written (${start})`;
  if (entries.every((entry) => isAt(entry, first, last)))
    return `a read returned entries of several states (${start})`;
  return `a read returned an entry of another time (${start})`;
}

/** Returns the numbers of the first and the last state that a call may have seen. */
function windowOf({ start, end }, made) {
  let first = 0;
  let last = made.length;
  for (const [i, commit] of made.entries()) {
    if (commit.end < start) first = i + 1;
    if (commit.start > end) last = Math.min(last, i);
  }
  return [first, last];
}

function findState(states, first, last, isRight) {
  for (let i = first; i <= last; i++) if (isRight(states[i])) return i;
  return undefined;
}

function stampIn(state, key) {
  return state.get(String(key))?.stamp ?? null;
}

function isIn(state, { key, stamp, value }) {
  return stampIn(state, key) === stamp && state.get(String(key))?.value === value;
}
