/** Returns an engine that counts its reads and commits, each of which is one request. */
export function countedEngine(engine) {
  const counts = { reads: 0, commits: 0 };
  const counted =
    (kind, call) =>
    (...args) => {
      counts[kind]++;
      return call.apply(engine, args);
    };
  return {
    counts,
    engine: {
      limits: engine.limits,
      isShared: engine.isShared,
      get: counted("reads", engine.get),
      getMany: counted("reads", engine.getMany),
      getRange: counted("reads", engine.getRange),
      commit: counted("commits", engine.commit),
      watch: (...args) => engine.watch(...args),
      watchRanges: (...args) => engine.watchRanges(...args),
      close: () => engine.close(),
    },
  };
}
