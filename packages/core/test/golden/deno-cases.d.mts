import type { Kv, KvU64 } from "../../src/index.js";

export interface DenoCaseContext {
  kv: Kv;
  KvU64: typeof KvU64;
}

export interface DenoCase {
  given: ((context: DenoCaseContext) => unknown) | undefined;
  run: (context: DenoCaseContext) => unknown;
}

export declare const denoCases: Map<string, DenoCase>;

/** What a call did: `{ threw }`, `{ rejected }` or `{ value }`, as JSON. */
export declare function outcomeOf(
  run: DenoCase["run"],
  context: DenoCaseContext,
): Promise<Record<string, unknown>>;
