/** Sorts after all versionstamps of a database, whose first digits count its commits. */
const firstDigits = "ffffffff";
let count = 0;

export function nextPendingVersionstamp(): string {
  count++;
  return firstDigits + count.toString(16).padStart(12, "0");
}
