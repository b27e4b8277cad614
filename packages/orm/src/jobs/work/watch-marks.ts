import type { Kv, KvKey } from "@keywright/core";
import { unref } from "@keywright/core/platform";
import { isClosedError } from "../../read/live/is-closed.js";

/** The pause before a watch that has failed is begun again, in milliseconds. */
const pause = 1000;

/**
 * Calls a function after each change of one of the keys, until the signal is aborted. The function
 * is also called after each beginning, because changes may have been missed before.
 *
 * @param onChange gets the positions of the keys that may have changed.
 * @param onClosed is called if the database was closed.
 */
export async function watchMarks(
  kv: Kv,
  keys: readonly KvKey[],
  signal: AbortSignal,
  onChange: (changed: readonly number[]) => void,
  onClosed: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const reader = kv.watch<unknown[]>([...keys]).getReader();
      const cancel = () => void reader.cancel().catch(() => undefined);
      signal.addEventListener("abort", cancel, { once: true });
      try {
        let seen: readonly (string | null)[] = [];
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          const stamps = value.map(({ versionstamp }) => versionstamp);
          const changed = [...stamps.keys()].filter((i) => seen[i] !== stamps[i]);
          seen = stamps;
          if (!signal.aborted && changed.length > 0) onChange(changed);
        }
      } finally {
        signal.removeEventListener("abort", cancel);
        cancel();
      }
    } catch (error) {
      if (isClosedError(error)) return onClosed();
    }
    if (!signal.aborted) await new Promise((resolve) => unref(setTimeout(resolve, pause)));
  }
}
