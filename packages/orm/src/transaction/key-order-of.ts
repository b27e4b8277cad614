import {
  denoOrder,
  isKeywrightError,
  type KeyOrder,
  type Kv,
  specificationOrder,
} from "@keywright/core";

const known = new WeakMap<Kv, KeyOrder>();

/**
 * Returns the order of a database's keys. The test is a range from a bigint to a number. If numbers
 * sort before bigints, its start is after its end, and `list` refuses it. Nothing is read.
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
    // The database may belong to another copy of the package, which has classes of its own.
    if (isKeywrightError(error) && error.code === "KW_SELECTOR_INVALID") return specificationOrder;
    throw error;
  }
}
