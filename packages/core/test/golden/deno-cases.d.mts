import type { AtomicOperation, Kv, KvU64 } from "../../src/index.js";

export interface DenoCaseContext {
  kv: Kv;
  KvU64: typeof KvU64;
  AtomicOperation: typeof AtomicOperation;
  openKv: (path: string) => Promise<Kv>;
  inspectByNode: (object: unknown, options?: object) => string;
  inspectByDeno: (object: unknown) => string;
}

export interface DenoCase {
  given: ((context: DenoCaseContext) => unknown) | undefined;
  run: (context: DenoCaseContext) => unknown;
}

/** What the cases need of Deno itself, without a database, in Deno. */
export declare function denoContext(): Omit<DenoCaseContext, "kv"> | undefined;

export declare const denoCases: Map<string, DenoCase>;

/** What a call did: `{ threw }`, `{ rejected }` or `{ value }`, as JSON. */
export declare function outcomeOf(
  run: DenoCase["run"],
  context: DenoCaseContext,
): Promise<Record<string, unknown>>;
