import type { RequestOp, ResponseOp } from "../client/etcd-messages.js";

/** Up to this many transactions, a batch has no groups. */
const flat = 16;

type TransactionOp = Extract<RequestOp, { readonly requestTxn: unknown }>;

/**
 * Divides the transactions of a batch among transactions, because etcd limits how many operations
 * are on the path to an operation. All are still applied in one step.
 */
export function groupTransactions(transactions: readonly TransactionOp[]): TransactionOp[] {
  const size = groupSizeOf(transactions.length);
  if (size === 1) return [...transactions];
  const groups: TransactionOp[] = [];
  for (let start = 0; start < transactions.length; start += size) {
    groups.push({ requestTxn: { success: transactions.slice(start, start + size) } });
  }
  return groups;
}

/** Returns the responses to `count` transactions from those to their groups. */
export function ungroupResponses(responses: readonly ResponseOp[], count: number): ResponseOp[] {
  if (groupSizeOf(count) === 1) return [...responses];
  return responses.flatMap(({ responseTxn }) => responseTxn!.responses);
}

/** Returns what `count` transactions take of etcd's limit, without their own operations. */
export function groupedCost(count: number): number {
  const size = groupSizeOf(count);
  return size === 1 ? count : Math.ceil(count / size) + size;
}

function groupSizeOf(count: number): number {
  return count <= flat ? 1 : Math.ceil(Math.sqrt(count));
}
