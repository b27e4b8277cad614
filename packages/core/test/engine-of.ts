import { MemoryLevel } from "memory-level";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import type { Engine } from "../src/index.js";

export interface EngineTraits extends Pick<Engine, "isShared"> {
  readonly limits?: Engine["limits"];
  /** The outcome of each commit, except that of the header. */
  readonly failure?: Error;
  /** True if it has `openView`. The default is false. */
  readonly hasViews?: boolean;
  /** The default is a new database. */
  readonly level?: MemoryLevel<Uint8Array, Uint8Array>;
}

/** An engine as another package would write it: it answers everything in promises. */
export async function engineOf(traits: EngineTraits = {}): Promise<Engine> {
  const level = traits.level ?? new MemoryLevel({ storeEncoding: "view" });
  await level.open();
  const own = await LevelEngine.open(level as unknown as LevelDatabase);
  return {
    limits: traits.limits ?? {},
    isShared: traits.isShared ?? false,
    get: async (key) => await own.get(key),
    getMany: async (keys) => await own.getMany(keys),
    getRange: (read) => own.getRange(read),
    ...(traits.hasViews === true && { openView: async () => await own.openView!() }),
    commit: async (writes) => {
      const { failure } = traits;
      const isHeader = writes[0]?.mutations[0]?.key[1] === 5;
      if (failure === undefined || isHeader) return await own.commit(writes);
      return writes.map(() => failure);
    },
    watch: (keys, onChange) => own.watch(keys, onChange),
    watchRanges: (ranges, onChange) => own.watchRanges(ranges, onChange),
    close: () => own.close(),
  };
}
