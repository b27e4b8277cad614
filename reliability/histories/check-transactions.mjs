/** How many states the search may reach in one history before it gives up. */
const maxStates = 300_000;

/**
 * Checks that a history of transactions is strictly serializable: looks for an order in which all
 * transactions have their results if they are made one after another, and in which none comes
 * before one that had ended when it began. (Wing and Gong, "Testing and verifying concurrent
 * objects", 1993; with the states that Lowe's "Testing for linearizability", 2017, remembers.)
 *
 * A row that expires is deleted by one more transaction of the order. It comes after all those that
 * had ended before the row could expire, and before all those that began when it had to have.
 *
 * A transaction of unknown outcome comes anywhere after its start, or not at all.
 *
 * @param history as `recordTransactions` returns it.
 * @param expirySlack how many milliseconds later than their times rows may expire.
 * @returns `isSerializable`, which is undefined if the search gave up, and `problem`: after the
 * longest order that was found, the rows, and why none of the next transactions can follow.
 */
export function checkTransactions(history, expirySlack = 0) {
  const search = new Search(history, expirySlack);
  const isSerializable = search.run();
  return { isSerializable, problem: isSerializable ? undefined : search.problem };
}

class Search {
  /** The transactions of each client in their order. */
  #clients = [];
  /** The ends of rows, `{ token, from, to }`. They end between these times. */
  #expiries = [];
  #failed = new Set();
  #deepest = { depth: -1 };
  #gaveUp = false;
  #expirySlack;

  constructor(history, expirySlack) {
    this.#expirySlack = expirySlack;
    const unknown = [];
    for (const each of [...history].sort((a, b) => a.start - b.start)) {
      const transaction = {
        ...each,
        operations: each.operations.map((one) => this.#planned(one, each)),
      };
      transaction.hasEffect = !each.isAborted && each.operations.some(hasEffect);
      if (each.isUnknown) {
        // What its client did next may come before it. Without an effect it may have any result.
        if (transaction.hasEffect)
          unknown.push([{ ...transaction, end: Infinity, endedAt: Infinity }]);
        continue;
      }
      this.#clients[each.client] ??= [];
      this.#clients[each.client].push(transaction);
    }
    this.#clients = [...this.#clients.filter(Boolean), ...unknown];
  }

  /** Gives each row that expires a token, by which its end is known. */
  #planned(operation, { startedAt, endedAt, isAborted }) {
    const { result } = operation;
    if (operation.expireIn === undefined || result === false || isAborted) return operation;
    const token = this.#expiries.length;
    const { expireIn } = operation;
    const to = endedAt + expireIn + this.#expirySlack;
    this.#expiries.push({ token, from: startedAt + expireIn, to });
    return { ...operation, token };
  }

  run() {
    const positions = this.#clients.map(() => 0);
    const isFound = this.#extends({ positions, ended: new Set(), state: emptyState, depth: 0 });
    return isFound ? true : this.#gaveUp ? undefined : false;
  }

  /** True if the order so far can be continued to the end. */
  #extends(from) {
    const order = this.#withoutEffects(from);
    if (order.depth > this.#deepest.depth) this.#deepest = order;
    if (this.#isComplete(order)) return true;
    const next = this.#next(order);
    const id = idOf(order);
    if (this.#failed.has(id)) return false;
    if (this.#failed.size >= maxStates) this.#gaveUp = true;
    if (this.#gaveUp) return false;
    this.#failed.add(id);
    for (const { number, transaction } of next) {
      const state = apply(transaction, order);
      if (state !== undefined && this.#extends(after(order, number, state))) return true;
    }
    for (const { token } of this.#endable(order)) {
      const state = order.state.map((row) => (row?.token === token ? null : row));
      if (this.#extends({ ...order, state, ended: new Set(order.ended).add(token) })) return true;
    }
    return false;
  }

  /**
   * Adds all transactions that have no effect and are right now. If they can come later, they can
   * come now too.
   */
  #withoutEffects(from) {
    let order = from;
    for (;;) {
      const found = this.#next(order).find(
        ({ transaction }) => !transaction.hasEffect && apply(transaction, order) !== undefined,
      );
      if (found === undefined) return order;
      order = after(order, found.number, order.state);
    }
  }

  /** True if only transactions of unknown outcome are left. */
  #isComplete({ positions }) {
    const next = this.#clients.flatMap((own, number) => own[positions[number]] ?? []);
    return next.every(({ isUnknown }) => isUnknown);
  }

  /** The transactions that may come next, those that ended first before others. */
  #next({ positions, ended }) {
    const all = this.#clients
      .map((own, number) => ({ number, transaction: own[positions[number]] }))
      .filter(({ transaction }) => transaction !== undefined);
    const firstEnd = Math.min(...all.map(({ transaction }) => transaction.end));
    const overdue = this.#expiries.filter(({ token }) => !ended.has(token));
    const firstOverdue = Math.min(...overdue.map(({ to }) => to));
    const next = all.filter(
      ({ transaction: { start, startedAt } }) => start <= firstEnd && startedAt <= firstOverdue,
    );
    // Rows may have to end first.
    if (next.length === 0 && all.length > 0) return [{ number: -1, transaction: impossible }];
    return next.sort((a, b) => a.transaction.end - b.transaction.end || 0);
  }

  /** The rows that may end next. */
  #endable({ positions, ended }) {
    const ends = this.#clients.flatMap((own, number) => own[positions[number]]?.endedAt ?? []);
    const firstEnd = Math.min(...ends);
    return this.#expiries.filter(({ token, from }) => !ended.has(token) && firstEnd >= from);
  }

  get problem() {
    const order = this.#deepest;
    const lines = this.#next(order).map(({ transaction }) => {
      const { client, start, end, operations = [], isAborted } = transaction;
      const made = operations.map(asText).join("; ");
      return `client ${client}, ${start} to ${end}${isAborted ? ", aborted" : ""}: ${made}`;
    });
    const rows = order.state.flatMap((row, i) =>
      row === null ? [] : `${slots[i]} ${textOf(row)}`,
    );
    return [`after ${order.depth} transactions the rows are ${rows.join(", ")}`, ...lines].join(
      "\n",
    );
  }
}

const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
const slots = ["tasks", "notes"].flatMap((model) => ids.map((id) => `${model} ${id}`));
const emptyState = slots.map(() => null);
/** Stands for all transactions if none may come before a row has ended. */
const impossible = { operations: [{ type: "wait" }], hasEffect: true };

function after({ positions, depth, ...order }, number, state) {
  return {
    ...order,
    positions: positions.map((each, i) => (i === number ? each + 1 : each)),
    depth: depth + 1,
    state,
  };
}

function idOf({ positions, ended, state }) {
  const rows = state.map((row) => (row === null ? "" : `${row.list}${row.n}${row.token ?? ""}`));
  return `${positions} ${[...ended].sort()} ${rows}`;
}

/** Returns the rows after a transaction, or undefined if a result of it is not right. */
function apply({ operations, isAborted }, { state, ended }) {
  const rows = [...state];
  for (const operation of operations) {
    const result = resultOf(operation, rows, ended);
    if (operation.hasNoResult) continue;
    if (JSON.stringify(result) !== JSON.stringify(operation.result)) return undefined;
  }
  return isAborted ? state : rows;
}

/** Makes an operation on rows, and returns its result. */
function resultOf({ type, model, id, list, n, to, token }, rows, ended) {
  const first = model === "tasks" ? 0 : ids.length;
  const slot = first + ids.indexOf(id);
  const row = rows[slot];
  const all = ids.map((own, i) => ({ id: own, slot: first + i, row: rows[first + i] }));
  const present = all.filter((each) => each.row !== null);
  const inList = present.filter((each) => each.row.list === list);
  const change = (found, changed) => {
    for (const each of found) rows[each.slot] = changed && { ...each.row, ...changed(each.row) };
    return found.length;
  };
  const one = row === null || row === undefined ? [] : [{ slot, row }];
  switch (type) {
    case "get":
      return row === null ? null : `${id} ${textOf(row)}`;
    case "list":
      return inList.map((each) => `${each.id} ${textOf(each.row)}`);
    case "scan":
      return present.map((each) => `${each.id} ${textOf(each.row)}`);
    case "first": {
      const [lowest] = inList.sort((a, b) => a.row.n - b.row.n);
      return lowest === undefined ? null : `${lowest.id} ${textOf(lowest.row)}`;
    }
    case "count":
      return inList.length;
    case "countFrom":
    case "ranked":
      return inList.filter((each) => each.row.n >= n).length;
    case "all":
      return present.length;
    case "sum":
      return inList.length === 0 ? null : inList.reduce((sum, each) => sum + each.row.n, 0);
    case "create":
      if (row !== null) return false;
      // A row may have expired before its commit.
      if (!ended.has(token)) rows[slot] = { list, n, token };
      return true;
    case "move":
      return change(one, () => ({ list })) > 0;
    case "add":
      return change(one, (before) => ({ n: before.n + n })) > 0;
    case "delete":
      return change(one, null) > 0;
    case "moveList":
      return change(inList, () => ({ list: to }));
    case "addToList":
      return change(inList, (before) => ({ n: before.n + n }));
    case "deleteList":
      return change(inList, null);
    default:
      return undefined;
  }
}

const writes = new Set("create move add delete moveList addToList deleteList".split(" "));

function hasEffect({ type, result }) {
  return writes.has(type) && result !== false && result !== 0;
}

function textOf({ list, n }) {
  return `${list} ${n}`;
}

function asText({ type, model, id, list, n, to, expireIn, result }) {
  const call = { id, list, n, to, expireIn };
  return `${model} ${type} ${JSON.stringify(call)} = ${JSON.stringify(result)}`;
}
