import type { Kv, KvRangeChange } from "@keywright/core";
import { Subscription } from "./subscription.js";
import { tellsOfRanges, type Watched } from "./watched.js";

/** Sees whether something changes while a state is read. */
export interface Look {
  /** Whether something has changed since it began that concerns the state; asked for once. */
  hasChanged(concerns: (change: KvRangeChange) => Promise<boolean>): Promise<boolean>;
  /** To be called when it is over. */
  end(): void;
}

/** Begins to look at what is watched. */
export async function beginLook(kv: Kv, watched: Watched): Promise<Look> {
  if (!tellsOfRanges(kv)) return await lookAtVersions(kv, watched);
  const meanwhile = new Subscription(kv, watched);
  return {
    hasChanged: async (concerns) => {
      const occasion = await meanwhile.past();
      return occasion?.kind === "change" && (await concerns(occasion.change));
    },
    end: () => meanwhile.cancel(),
  };
}

/** Compares the versionstamps of the watched entries and marks: two reads more. */
async function lookAtVersions(kv: Kv, { keys, marks }: Watched): Promise<Look> {
  const versions = async () => {
    const entries = await kv.getMany<unknown[]>([...keys, ...marks]);
    return entries.map(({ versionstamp }) => versionstamp).join();
  };
  const before = await versions();
  return { hasChanged: async () => (await versions()) !== before, end: () => undefined };
}
