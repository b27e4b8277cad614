import type { Kv } from "@keywright/core";
import { AsyncLocalStorage } from "@keywright/core/platform";
import { capabilitiesOf } from "../catalog/capabilities-of.js";

/** Recognizes what the function of a transaction calls, directly or not. */
export class TransactionScope {
  readonly kv: Kv;
  /** The transaction within which this one runs. */
  readonly outer: TransactionScope | undefined = activeScope();
  isEnded = false;

  constructor(kv: Kv) {
    this.kv = kv;
  }

  run<T>(body: () => T): T {
    return scopes.run(this, body);
  }

  /** Ends the scope, also for work that the function has started and not awaited. */
  end(): void {
    this.isEnded = true;
  }
}

const scopes = new AsyncLocalStorage<TransactionScope | undefined>();

/** True if the caller was called by the function of a transaction of this database. */
export function isWithinTransaction(kv: Kv): boolean {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer) {
    if (!scope.isEnded && capabilitiesOf(scope.kv) === capabilitiesOf(kv)) return true;
  }
  return false;
}

/** Runs a function that may write through the database, although a transaction calls it. */
export function outsideTransactions<T>(run: () => T): T {
  return scopes.run(undefined, run);
}

/** Returns the innermost scope that has not ended. Nothing refers to those that have. */
function activeScope(): TransactionScope | undefined {
  let scope = scopes.getStore();
  while (scope?.isEnded) scope = scope.outer;
  return scope;
}
