import { firstReservedPosition } from "../record/stamp.js";
import { Component } from "./component.js";
import { overlap, type PendingWrite, type TextRange } from "./pending-write.js";
import { groupedCost } from "./transaction-groups.js";

export interface BatchLimits {
  /** The `--max-txn-ops` of etcd. */
  readonly maxTxnOps: number;
  /** The size of a batch of several writes, in bytes. */
  readonly bytes: number;
}

interface ComponentRange extends TextRange {
  readonly component: Component;
}

/** What a batch needs itself: the record of the session, and the end of a reservation. */
const ownOperations = 2;

/**
 * Takes the first writes that fit into one batch, in order. Writes that depend on each other form
 * one component, so that no component of the batch writes a key of another one.
 */
export function takeBatch(pending: readonly PendingWrite[], limits: BatchLimits): Component[] {
  const components = new Set<Component>();
  const writers = new Map<string, Component>();
  const readers = new Map<string, Component[]>();
  /** The ranges of range checks, and those of all changes. */
  const checkedRanges: ComponentRange[] = [];
  const changedRanges: ComponentRange[] = [];
  const haveRangeChecks = pending.some(({ readRanges }) => readRanges.length > 0);
  const absorbedBy = new Map<Component, Component>();
  let bytes = 0;
  let cost = 0;
  let taken = 0;

  function current(component: Component): Component {
    const next = absorbedBy.get(component);
    return next === undefined ? component : current(next);
  }

  /** Returns the components that the write depends on, or that depend on it. */
  function related(write: PendingWrite): Set<Component> {
    const { read, written, readRanges } = write;
    const found = new Set<Component>();
    for (const key of [...read, ...written]) {
      const writer = writers.get(key);
      if (writer !== undefined) found.add(current(writer));
    }
    for (const key of written) for (const each of readers.get(key) ?? []) found.add(current(each));
    for (const range of readRanges) addOverlapping(found, range, changedRanges);
    if (checkedRanges.length === 0) return found;
    for (const range of write.writtenRanges) addOverlapping(found, range, checkedRanges);
    return found;
  }

  function addOverlapping(
    found: Set<Component>,
    range: TextRange,
    others: readonly ComponentRange[],
  ): void {
    for (const other of others) if (overlap(range, other)) found.add(current(other.component));
  }

  for (const write of pending) {
    const joined = related(write);
    const single = new Component(write);
    const newCost = Math.max(cost, single.costWith(joined));
    const count = components.size - joined.size + 1;
    const isFull =
      bytes + write.bytes > limits.bytes ||
      taken === firstReservedPosition ||
      groupedCost(count) + ownOperations + newCost > limits.maxTxnOps;
    if (taken > 0 && isFull) break;
    const [component = single, ...others] = joined;
    if (component !== single) component.absorb(single);
    for (const other of others) {
      component.absorb(other);
      absorbedBy.set(other, component);
      components.delete(other);
    }
    components.add(component);
    for (const key of write.written) writers.set(key, component);
    for (const key of write.read) {
      const known = readers.get(key);
      if (known === undefined) readers.set(key, [component]);
      else known.push(component);
    }
    for (const range of write.readRanges) checkedRanges.push({ ...range, component });
    if (haveRangeChecks) {
      for (const range of write.writtenRanges) changedRanges.push({ ...range, component });
    }
    bytes += write.bytes;
    cost = newCost;
    taken++;
  }
  return [...components];
}
