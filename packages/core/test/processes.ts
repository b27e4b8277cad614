import { MemoryLevel } from "memory-level";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import type { Engine } from "../src/index.js";

/** One of several processes that have a database open. */
export interface Process {
  readonly engine: Engine;
  /** From now on its calls are never answered and have no effect. */
  stop(): void;
}

/** Stands for a server: each call returns an engine on the same data, for another process. */
export async function startProcesses(): Promise<() => Process> {
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
  const own = await LevelEngine.open(level as unknown as LevelDatabase);
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    let isStopped = false;
    const answer = async <T>(call: () => T | Promise<T>): Promise<T> => {
      if (isStopped) await new Promise<never>(() => undefined);
      return await call();
    };
    const engine: Engine = {
      limits: {},
      isShared: true,
      get: (key) => answer(() => own.get(key)),
      getMany: (keys) => answer(() => own.getMany(keys)),
      getRange: (read) => answer(() => own.getRange(read)),
      commit: (writes) =>
        answer(() => {
          const commit = last.then(() => own.commit(writes));
          last = commit;
          return commit;
        }),
      watch: (keys, onChange) => own.watch(keys, () => !isStopped && onChange()),
      watchRanges: (ranges, onChange) =>
        own.watchRanges(ranges, (keys) => !isStopped && onChange(keys)),
      close: async () => undefined,
    };
    return {
      engine,
      stop: () => {
        isStopped = true;
      },
    };
  };
}
