export { lmdbEngine } from "./lmdb-engine.js";
export type { LmdbOptions } from "./open/lmdb-options.js";
