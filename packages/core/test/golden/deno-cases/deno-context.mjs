import { inspect } from "node:util";

/**
 * Returns what the cases need of Deno itself, or undefined if this is not Deno with `Deno.openKv`.
 */
export function denoContext() {
  const { Deno } = globalThis;
  if (Deno?.openKv === undefined) return undefined;
  return {
    openKv: Deno.openKv,
    KvU64: Deno.KvU64,
    AtomicOperation: Deno.AtomicOperation,
    inspectByNode: inspect,
    inspectByDeno: Deno.inspect,
  };
}
