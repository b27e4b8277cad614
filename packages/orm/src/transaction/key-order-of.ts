import {
  denoOrder,
  InvalidSelectorError,
  type KeyOrder,
  type Kv,
  specificationOrder,
} from "@keywright/core";

const known = new WeakMap<Kv, KeyOrder>();

/**
 * How a database orders its keys. It is asked with a range from a bigint to a number, whose start is after its end where
 * numbers come before bigints, which `list` then refuses. Nothing is read.
 */
export function keyOrderOf(kv: Kv): KeyOrder {
  let order = known.get(kv);
  if (order === undefined) {
    order = findOrder(kv);
    known.set(kv, order);
  }
  return order;
}

function findOrder(kv: Kv): KeyOrder {
  try {
    kv.list({ start: [0n], end: [0] });
    return denoOrder;
  } catch (error) {
    if (error instanceof InvalidSelectorError) return specificationOrder;
    throw error;
  }
}
