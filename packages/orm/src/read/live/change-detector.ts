import type { Kv, KvRangeChange } from "@keywright/core";
import { Subscription } from "./subscription.js";
import { canWatchRanges, type Watched } from "./watched.js";

/** Detects changes while a state is read. */
export interface ChangeDetector {
  /** True if a change since the beginning concerns the state. May be called only once. */
  hasChanged(mayAffect: (change: KvRangeChange) => Promise<boolean>): Promise<boolean>;
  /** Releases the watch. Must be called after the read. */
  end(): void;
}

export async function detectChanges(
  kv: Kv & { readonly isShared?: boolean },
  watched: Watched,
): Promise<ChangeDetector> {
  // In a shared database, a read may see a commit before the watch reports it.
  if (kv.isShared || !canWatchRanges(kv)) return await compareVersions(kv, watched);
  const subscription = new Subscription(kv, watched);
  return {
    hasChanged: async (mayAffect) => {
      const event = await subscription.poll();
      return event?.kind === "change" && (await mayAffect(event.change));
    },
    end: () => subscription.cancel(),
  };
}

/** Costs two reads. */
async function compareVersions(kv: Kv, { keys, marks }: Watched): Promise<ChangeDetector> {
  const versions = async () => {
    const entries = await kv.getMany<unknown[]>([...keys, ...marks]);
    return entries.map(({ versionstamp }) => versionstamp).join();
  };
  const before = await versions();
  return { hasChanged: async () => (await versions()) !== before, end: () => undefined };
}
