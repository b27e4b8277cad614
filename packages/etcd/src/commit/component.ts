import { nestedCost } from "./nested-operations.js";
import { dependsOnStored, type PendingWrite } from "./pending-write.js";

/** Comparisons of one check in etcd: the revision, and the two bounds of its record. */
const comparesPerCheck = 3;
/** With more checks, the state is read instead, and then each check takes one comparison. */
const mostDirectChecks = 10;
/** With more comparisons, the component does not fit into a request. */
const mostCompares = 100;

/**
 * Writes that depend on each other: each of them reads or writes a key that another one writes.
 * They become one transaction of a batch.
 */
export class Component {
  readonly #writes: PendingWrite[];
  #checks = 0;
  #stateMutations = 0;
  #operations = 0;
  #needsState = false;

  constructor(write: PendingWrite) {
    this.#writes = [write];
    this.#count(write);
  }

  get writes(): readonly PendingWrite[] {
    return this.#writes;
  }

  /** True if the stored entries have to be read first. Otherwise etcd compares the checks. */
  get needsState(): boolean {
    const hasSeveral = this.#writes.length > 1 && this.#checks > 0;
    return this.#needsState || hasSeveral || this.#checks > mostDirectChecks;
  }

  /**
   * True if the outcome depends on more keys than etcd can compare in one request. The state is
   * then read under a reservation, which keeps it as it is until the request is applied.
   */
  get needsReservation(): boolean {
    return this.#checks + this.#stateMutations > mostCompares;
  }

  /** What the component takes of the operations that etcd permits on one path of a request. */
  get cost(): number {
    const perCheck = this.needsState ? 1 : comparesPerCheck;
    const compares = this.needsReservation ? 0 : this.#checks * perCheck + this.#stateMutations;
    return nestedCost(compares, this.#operations);
  }

  /** Returns the cost with further components, before they are absorbed. */
  costWith(others: Iterable<Component>): number {
    let compares = this.#checks + this.#stateMutations;
    let operations = this.#operations;
    let isAlone = true;
    for (const other of others) {
      compares += other.#checks + other.#stateMutations;
      operations += other.#operations;
      isAlone = false;
    }
    return isAlone ? this.cost : nestedCost(compares, operations);
  }

  absorb(other: Component): void {
    this.#writes.push(...other.#writes);
    this.#writes.sort((a, b) => a.index - b.index);
    this.#checks += other.#checks;
    this.#stateMutations += other.#stateMutations;
    this.#operations += other.#operations;
    this.#needsState ||= other.#needsState;
  }

  #count({ write: { checks, mutations }, needsState }: PendingWrite): void {
    this.#checks += checks.length;
    this.#needsState = needsState;
    for (const mutation of mutations) {
      if (dependsOnStored(mutation)) this.#stateMutations++;
      const hasHint = mutation.type === "deleteExpired" && mutation.hint !== undefined;
      this.#operations += hasHint ? 2 : 1;
    }
  }
}
