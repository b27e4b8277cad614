import { nestedCost } from "./nested-operations.js";
import { dependsOnStored, type PendingWrite } from "./pending-write.js";

/** Comparisons of one check in etcd: the revision, and the two bounds of its record. */
const comparesPerCheck = 3;
/** Comparisons of all range checks: no record of a session before or after the own one is newer. */
const comparesOfRanges = 2;
/** With more checks, the state is read instead, and then each check takes one comparison. */
const mostDirectChecks = 10;
/** With more comparisons, the component does not fit into a request. */
const mostCompares = 100;

/**
 * Writes that depend on each other: each of them reads or writes a key that another one writes, or
 * checks a range in which it is. They become one transaction of a batch.
 */
export class Component {
  readonly #writes: PendingWrite[];
  #checks = 0;
  #hasRangeChecks = false;
  #readsRanges = false;
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
   * True if the outcome depends on more keys than etcd can compare in one request, or on ranges
   * that others may have changed. The state is then read under a reservation, which keeps it as it
   * is until the request is applied.
   */
  get needsReservation(): boolean {
    return this.#readsRanges || this.#compares(1) > mostCompares;
  }

  /** What the component takes of the operations that etcd permits on one path of a request. */
  get cost(): number {
    const isRead = this.needsState && this.needsReservation;
    const compares = isRead ? 0 : this.#compares(this.needsState ? 1 : comparesPerCheck);
    return nestedCost(compares, this.#operations);
  }

  /** Returns the cost with further components, before they are absorbed. */
  costWith(others: Iterable<Component>): number {
    let compares = this.#compares(1);
    let operations = this.#operations;
    let isAlone = true;
    for (const other of others) {
      compares += other.#compares(1);
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
    this.#hasRangeChecks ||= other.#hasRangeChecks;
    this.#readsRanges ||= other.#readsRanges;
  }

  #compares(perCheck: number): number {
    const ofRanges = this.#hasRangeChecks ? comparesOfRanges : 0;
    return this.#checks * perCheck + this.#stateMutations + ofRanges;
  }

  #count(pending: PendingWrite): void {
    const { checks, mutations } = pending.write;
    this.#checks += checks.length;
    this.#needsState = pending.needsState;
    this.#hasRangeChecks = pending.readRanges.length > 0;
    this.#readsRanges = pending.needsReservation;
    for (const mutation of mutations) {
      if (dependsOnStored(mutation)) this.#stateMutations++;
      const hasHint = mutation.type === "deleteExpired" && mutation.hint !== undefined;
      this.#operations += hasHint ? 2 : 1;
    }
  }
}
