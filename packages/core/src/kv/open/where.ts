import type { Engine } from "../../engine/engine.js";

/** The rule that the argument of `openKv` breaks, as the reason of an error. */
export const whereReason = 'must be a path, ":memory:", an engine or an abstract-level database';

export function isEngine(where: unknown): where is Engine {
  const { getRange, watchRanges } = (where ?? {}) as Partial<Engine>;
  return typeof getRange === "function" && typeof watchRanges === "function";
}
