import { compareBytes } from "../../bytes/compare-bytes.js";
import type { ReadView, StoredEntry } from "../../engine/engine.js";
import { type ListedEntry, listStored } from "./list-stored.js";

/** Clocks may differ by so many milliseconds. */
const clockTolerance = 10_000;

/**
 * Compares all messages and entries of two states.
 *
 * @param onEntry is called after each entry with their number.
 * @returns the number of entries, and the text of the first key that differs.
 */
export async function compareStored(
  source: Pick<ReadView, "getRange">,
  target: Pick<ReadView, "getRange">,
  { signal, onEntry }: { readonly signal: AbortSignal | undefined; onEntry(count: number): void },
): Promise<{ readonly compared: number; readonly difference: string | undefined }> {
  const left = listStored(source, signal);
  const right = listStored(target, signal);
  let compared = 0;
  try {
    let a = await nextOf(left);
    let b = await nextOf(right);
    while (a !== undefined || b !== undefined) {
      const isOnlyLeft = b === undefined || (a !== undefined && a.text < b.text);
      const isOnlyRight = a === undefined || (b !== undefined && b.text < a.text);
      const difference = isOnlyRight ? b!.text : a!.text;
      const isSame = isSameEntry(
        isOnlyRight ? undefined : a?.entry,
        isOnlyLeft ? undefined : b?.entry,
      );
      if (!isSame) return { compared, difference };
      onEntry(++compared);
      if (!isOnlyRight) a = await nextOf(left);
      if (!isOnlyLeft) b = await nextOf(right);
    }
    return { compared, difference: undefined };
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

/** True if both are absent or have the same value. One of them may have expired already. */
export function isSameEntry(a: StoredEntry | undefined, b: StoredEntry | undefined): boolean {
  if (a === undefined || b === undefined) {
    const { expireAt = Number.POSITIVE_INFINITY } = a ?? b ?? { expireAt: 0 };
    return expireAt <= Date.now() + clockTolerance;
  }
  return a.expireAt === b.expireAt && compareBytes(a.value, b.value) === 0;
}

async function nextOf(entries: AsyncGenerator<ListedEntry>): Promise<ListedEntry | undefined> {
  const { done, value } = await entries.next();
  return done === true ? undefined : value;
}
