/** The maximum number of names that {@link knownNames} lists. */
const maxListed = 12;

/**
 * Returns the known name that a misspelled name most likely stands for, or undefined if none is
 * close: more than a third of its characters would have to change. Letter case does not matter.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/**
 * Returns advice for a name that is not among the known ones: `did you mean "email"?`, or a list of
 * the known names: `the fields are id, email`.
 *
 * @param kind what the names are, in the plural.
 */
export function knownNames(name: string, known: Iterable<string>, kind: string): string {
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `did you mean ${JSON.stringify(nearest)}?`;
  if (names.length === 0) return `there are no ${kind}`;
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
  return `the ${kind} are ${names.slice(0, maxListed).join(", ")}${more}`;
}

/**
 * Returns how many insertions, deletions, replacements and swaps of neighbours turn one text into
 * the other (the optimal string alignment distance).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) distance = Math.min(distance, beforeLast[j - 2]! + 1);
      row.push(distance);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
