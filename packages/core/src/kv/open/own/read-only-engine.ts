import type { Engine } from "../../../engine/engine.js";
import { ReadOnlyError } from "../../../errors/core-errors.js";

/** Returns an engine that reads the database of another one and refuses all commits. */
export function readOnlyEngine(engine: Engine, path: string): Engine {
  const { getRanges, openView, verifyFiles } = engine;
  return {
    limits: engine.limits,
    isReadOnly: true,
    get lastVersionstamp() {
      return engine.lastVersionstamp;
    },
    get: (key) => engine.get(key),
    getMany: (keys) => engine.getMany(keys),
    getRange: (read) => engine.getRange(read),
    ...(getRanges && { getRanges: (reads) => getRanges.call(engine, reads) }),
    ...(openView && { openView: (options) => openView.call(engine, options) }),
    commit: async (writes) => writes.map(() => new ReadOnlyError("commit", path)),
    watch: (keys, onChange) => engine.watch(keys, onChange),
    watchRanges: (ranges, onChange) => engine.watchRanges(ranges, onChange),
    ...(verifyFiles && { verifyFiles: (onProgress) => verifyFiles.call(engine, onProgress) }),
    close: () => engine.close(),
  };
}
