/** How many times rows are read if commits come between the reads of entries and of rows. */
export const maxAttempts = 5;

/**
 * Reads a list of rows. Reads it again if an index entry leads to no row: another row may have
 * taken its place, whose entry did not exist yet when the entries were read. If the same entries
 * lead to no row again, programs that write by hand have left them, and the list is complete.
 *
 * @param read calls its argument with the key of each such entry.
 */
export async function readWhole<T>(
  read: (onLost: (key: string) => void) => Promise<T>,
): Promise<T> {
  let before = "";
  for (let attempt = 1; ; attempt++) {
    const lost: string[] = [];
    const result = await read((key) => lost.push(key));
    const keys = lost.sort().join();
    if (keys === "" || keys === before || attempt === maxAttempts) return result;
    before = keys;
  }
}
