import type { KeyId } from "../../transaction/buffer/key-id.js";

/**
 * Returns rows in an order in which each comes after those to which it refers. Within a circle of
 * references, one of the rows comes first.
 *
 * @param references row → the rows to which it refers. Those that are not in `rows` do not matter.
 */
export function referencedFirst<Row>(
  rows: ReadonlyMap<KeyId, Row>,
  references: ReadonlyMap<KeyId, readonly KeyId[]>,
): Row[] {
  const ordered: Row[] = [];
  const begun = new Set<KeyId>();
  for (const first of rows.keys()) {
    // A chain of references may be too long for recursion.
    const stack = [{ id: first, isEnd: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { id, isEnd } = top;
      if (isEnd) ordered.push(rows.get(id) as Row);
      if (isEnd || begun.has(id) || !rows.has(id)) continue;
      begun.add(id);
      stack.push({ id, isEnd: true });
      for (const target of references.get(id) ?? []) stack.push({ id: target, isEnd: false });
    }
  }
  return ordered;
}
