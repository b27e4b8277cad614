import type { RequestOp } from "../client/etcd-messages.js";

/** Up to this many operations, a list is not divided. */
const flat = 16;
/** The most operations or groups of a transaction in a list that is divided. */
const mostPerLevel = 8;

/**
 * Divides operations among transactions within transactions. etcd limits how many operations and
 * comparisons there are on the path from the request to an operation, so more of them fit if they
 * are nested. They are applied in one step all the same.
 */
export function nestOperations(operations: readonly RequestOp[]): RequestOp[] {
  const size = widthOf(operations.length);
  if (operations.length <= size) return [...operations];
  const perGroup = Math.ceil(operations.length / size);
  const groups: RequestOp[] = [];
  for (let start = 0; start < operations.length; start += perGroup) {
    const success = nestOperations(operations.slice(start, start + perGroup));
    groups.push({ requestTxn: { success } });
  }
  return groups;
}

/** Returns what a transaction with these comparisons and operations takes of etcd's limit. */
export function nestedCost(compares: number, operations: number): number {
  const size = widthOf(operations);
  if (operations <= size) return Math.max(compares, operations);
  const perGroup = Math.ceil(operations / size);
  const groups = Math.ceil(operations / perGroup);
  const last = operations - perGroup * (groups - 1);
  // A smaller group can cost more than a larger one, which is divided again.
  const mostOfGroups = Math.max(nestedCost(0, perGroup), nestedCost(0, last));
  return Math.max(compares, groups) + mostOfGroups;
}

/** Returns how many operations or groups of them one transaction of the path has. */
function widthOf(operations: number): number {
  if (operations <= flat) return flat;
  let depth = 2;
  while (mostPerLevel ** depth < operations) depth++;
  return Math.ceil(operations ** (1 / depth));
}
