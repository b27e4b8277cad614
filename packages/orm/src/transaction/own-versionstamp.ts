/** Above all versionstamps of a database, whose first digits count its commits. */
const firstDigits = "ffffffff";
let count = 0;

/**
 * A versionstamp for what a transaction has written and not committed yet: no other transaction of this program makes up
 * the same one.
 */
export function nextOwnVersionstamp(): string {
  count++;
  return firstDigits + count.toString(16).padStart(12, "0");
}
