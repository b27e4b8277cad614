import type { CompiledPart } from "../compiled-model.js";

/**
 * Refuses functions whose code cannot be compared: all bound functions have the same source.
 *
 * @param fail throws an error about a property of the index.
 */
export function assertOwnCode(
  parts: readonly CompiledPart[],
  where: unknown,
  fail: (property: string, reason: string) => never,
): void {
  const assertOwn = (property: string, fn: unknown) => {
    if (typeof fn === "function" && isBound(fn))
      fail(
        property,
        "the code of a function made by bind() cannot be compared; write (row) => … or give the index a version",
      );
  };
  assertOwn("where", where);
  for (const { compute, normalize, normalizers } of parts) {
    assertOwn("key", compute);
    if (normalizers === undefined) assertOwn("normalize", normalize);
  }
}

function isBound(fn: { readonly name: string }): boolean {
  const source = Function.prototype.toString.call(fn);
  return fn.name.startsWith("bound ") && source.includes("[native code]");
}
