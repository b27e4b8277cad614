import type { Buffer } from "node:buffer";
import {
  AmbiguousCommitError,
  type AtomicWrite,
  EngineUnavailableError,
  type StoredEntry,
  type WriteOutcome,
} from "@keywright/core";
import { hasExpired } from "@keywright/core/engine";
import type { EtcdClient } from "../client/etcd-client.js";
import type { KeyValue } from "../client/etcd-messages.js";
import { readKeys } from "../client/read-keys.js";
import { retryIfCompacted } from "../client/retry-if-compacted.js";
import { Snapshot } from "../client/snapshot.js";
import { unavailable } from "../client/typed-failure.js";
import { EtcdAccessDeniedError, EtcdOutOfSpaceError } from "../errors/etcd-errors.js";
import { decodeRecord } from "../record/entry-record.js";
import type { KeySpace } from "../record/key-space.js";
import { firstReservedPosition, formatStamp, type Stamp } from "../record/stamp.js";
import {
  type AppliedWrites,
  applyWrites,
  type KnownState,
  type RangeOutcomes,
} from "./apply-writes.js";
import { type BatchAnswer, CommitSession } from "./commit-session.js";
import type { Component } from "./component.js";
import { dependsOnStored, PendingWrite, textOf } from "./pending-write.js";
import { checksRanges, type OwnChange, RangeChecks } from "./range-checks.js";
import { Reservation } from "./reservation.js";
import { longestIdle, sweepSessions } from "./sweep-sessions.js";
import { type BatchLimits, takeBatch } from "./take-batch.js";
import {
  type BatchTransaction,
  changedKey,
  comparesOf,
  hasRevision,
  operationsOf,
  type TransactionResult,
} from "./transaction.js";

/** Called before the commits of a batch resolve. */
export interface BatchListener {
  /** Called with the changed keys of a batch that was applied. */
  committed(revision: number, changed: readonly { readonly key: Uint8Array }[]): void;
  /** Called if it remains unknown whether a batch was applied. */
  abandoned(): void;
}

/** A component with what it does if its transaction is applied. */
interface PreparedComponent {
  readonly component: Component;
  readonly applied: AppliedWrites;
  readonly transaction: BatchTransaction;
}

/** What is known when the transactions of a batch are made. */
interface BatchState {
  /** The stored entries that were read, by the texts of their keys. */
  readonly state: ReadonlyMap<string, KeyValue>;
  readonly ranges: RangeOutcomes;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Batch {
  readonly prepared: readonly PreparedComponent[];
  readonly stampOf: (write: PendingWrite, revision: number) => Stamp;
  readonly answer: BatchAnswer;
}

/**
 * Commits writes in batches, one request each. See `docs/internals/etcd.md`.
 */
export class Committer {
  readonly session: CommitSession;
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  readonly #limits: BatchLimits;
  readonly #reservation: Reservation;
  readonly #rangeChecks: RangeChecks;
  readonly #listener: BatchListener;
  /** When the records of ended sessions were swept, in milliseconds since the epoch. */
  #sweptAt = 0;

  constructor(client: EtcdClient, keys: KeySpace, limits: BatchLimits, listener: BatchListener) {
    this.#client = client;
    this.#keys = keys;
    this.#limits = limits;
    this.#listener = listener;
    this.#reservation = new Reservation(client, keys);
    this.session = new CommitSession(client, keys, this.#reservation);
    this.#rangeChecks = new RangeChecks(client, keys, this.session);
  }

  /** Applies writes in order and returns an outcome for each. Never rejects. */
  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    this.#sweepNowAndThen();
    const outcomes: WriteOutcome[] = new Array(writes.length);
    let pending = writes.map((write, index) => new PendingWrite(write, index));
    while (pending.length > 0) {
      this.#rangeChecks.findLate(pending);
      const batch = takeBatch(pending, this.#limits);
      const taken = new Set(batch.flatMap(({ writes }) => writes));
      const rest = pending.filter((write) => !taken.has(write));
      const again = await this.#commitBatch(batch, outcomes);
      if (again instanceof Error) {
        // The others would have to wait as long, one batch after the other.
        for (const { index } of rest) outcomes[index] = again;
        break;
      }
      pending = [...again, ...rest].sort((a, b) => a.index - b.index);
    }
    return outcomes;
  }

  /** No commit waits for a sweep. A later sweep removes what a failed one leaves. */
  #sweepNowAndThen(): void {
    const now = Date.now();
    if (now - this.#sweptAt < longestIdle) return;
    this.#sweptAt = now;
    sweepSessions(this.#client, this.#keys).catch(() => undefined);
  }

  /**
   * Commits one batch and enters the outcomes of its writes. Returns the writes that have to be
   * tried again, or an error if etcd does not answer.
   */
  async #commitBatch(
    components: readonly Component[],
    outcomes: WriteOutcome[],
  ): Promise<PendingWrite[] | EngineUnavailableError> {
    const writes = components.flatMap((component) => component.writes);
    try {
      const batch = await this.#send(components);
      if (batch.answer === undefined) return writes;
      return this.#enter(batch, batch.answer, outcomes);
    } catch (error) {
      const isAmbiguous = error instanceof AmbiguousCommitError;
      const isUnavailable = error instanceof EngineUnavailableError;
      const isRefusal = !isAmbiguous && !isUnavailable && !isForAll(error);
      if (isRefusal && components.length > 1) {
        return await this.#commitHalves(components, outcomes);
      }
      for (const { index } of writes) outcomes[index] = error as Error;
      if (isUnavailable) return error;
      if (!isAmbiguous) return [];
      this.#listener.abandoned();
      return unavailable(this.#client.endpoints, error);
    }
  }

  /** Commits two halves by themselves, because etcd has refused a request with all of it. */
  async #commitHalves(
    components: readonly Component[],
    outcomes: WriteOutcome[],
  ): Promise<PendingWrite[] | EngineUnavailableError> {
    const middle = components.length >> 1;
    const second = components.slice(middle);
    const again = await this.#commitBatch(components.slice(0, middle), outcomes);
    const result = again instanceof Error ? again : await this.#commitBatch(second, outcomes);
    if (!(result instanceof Error)) return [...(again as PendingWrite[]), ...result];
    const left = again instanceof Error ? second.flatMap(({ writes }) => writes) : again;
    for (const { index } of left) outcomes[index] = result;
    return result;
  }

  async #send(components: readonly Component[]): Promise<Batch> {
    const writes = components
      .flatMap((component) => component.writes)
      .sort((a, b) => a.index - b.index);
    const isReserved =
      writes.some((write) => write.endsInVersionstamp) ||
      components.some((component) => component.needsReservation);
    const reserved = isReserved ? await this.#reservation.acquire() : undefined;
    const first = isReserved ? firstReservedPosition : 0;
    const positions = new Map(writes.map((write, index) => [write, first + index]));
    const stampOf = (write: PendingWrite, revision: number): Stamp => ({
      revision: reserved ?? revision,
      position: positions.get(write)!,
    });
    try {
      // While the revision is reserved, no other batch changes what is read here.
      const [state, ranges] = await Promise.all([
        this.#readState(components),
        this.#rangeChecks.outcomesOf(components, reserved),
      ]);
      const now = Date.now();
      const prepared = components.map((component) =>
        this.#prepare(component, { state, ranges, now }, (write) => stampOf(write, 0)),
      );
      const transactions = prepared.map(({ transaction }) => transaction);
      const answer = await this.session.send(transactions, reserved);
      return { prepared, stampOf, answer };
    } catch (error) {
      if (reserved !== undefined) await this.#reservation.release(reserved);
      throw error;
    }
  }

  async #readState(components: readonly Component[]): Promise<ReadonlyMap<string, KeyValue>> {
    const keys = components
      .filter((component) => component.needsState)
      .flatMap((component) => this.#stateKeys(component));
    const full = keys.map(({ key }) => key);
    return await retryIfCompacted(() => readKeys(new Snapshot(this.#client), full));
  }

  /** Returns the keys on which the outcome of a component depends. */
  #stateKeys({ writes }: Component): { readonly entryKey: Uint8Array; readonly key: Buffer }[] {
    const entryKeys = new Map<string, Uint8Array>();
    for (const { write } of writes) {
      for (const { key } of write.checks) entryKeys.set(textOf(key), key);
      for (const mutation of write.mutations) {
        if (dependsOnStored(mutation)) entryKeys.set(textOf(mutation.key), mutation.key);
      }
    }
    return [...entryKeys.values()].map((entryKey) => ({
      entryKey,
      key: this.#keys.keyOf(entryKey),
    }));
  }

  #prepare(
    component: Component,
    { state: stored, ranges, now }: BatchState,
    stampOf: (write: PendingWrite) => Stamp,
  ): PreparedComponent {
    const { writes, needsState } = component;
    const ofRanges = this.#rangeChecks.comparesOf(writes, ranges);
    if (!needsState) {
      const applied = applyWrites(writes, undefined, now, ranges);
      const checks = writes.flatMap(({ write }) => write.checks);
      const transaction = {
        compare: [...writes.flatMap((write) => comparesOf(write, this.#keys, now)), ...ofRanges],
        success: operationsOf(applied.changes, this.#keys, stampOf),
        readOnFailure: checks.map(({ key }) => this.#keys.keyOf(key)),
      };
      return { component, applied, transaction };
    }
    const state = new Map<string, StoredEntry | Error | undefined>();
    const compare = this.#stateKeys(component).map(({ entryKey, key }) => {
      const record = stored.get(key.toString("latin1"));
      state.set(textOf(entryKey), record && entryOf(entryKey, record));
      return hasRevision(key, record?.modRevision ?? 0);
    });
    const applied = applyWrites(writes, state satisfies KnownState, now, ranges);
    const transaction = {
      compare: component.needsReservation ? [] : [...compare, ...ofRanges],
      success: operationsOf(applied.changes, this.#keys, stampOf),
      readOnFailure: [],
    };
    return { component, applied, transaction };
  }

  /** Enters the outcomes of an applied batch. Returns the writes that have to be tried again. */
  #enter(
    { prepared, stampOf }: Batch,
    { revision, results }: NonNullable<BatchAnswer>,
    outcomes: WriteOutcome[],
  ): PendingWrite[] {
    const again: PendingWrite[] = [];
    const changed: { readonly key: Uint8Array }[] = [];
    const changes: OwnChange[] = [];
    for (const [index, { component, applied }] of prepared.entries()) {
      const result = results[index]!;
      if (result.succeeded) {
        for (const [write, outcome] of applied.outcomes) {
          const stamp = stampOf(write, revision);
          outcomes[write.index] = outcome === true ? formatStamp(stamp) : outcome;
        }
        for (const change of applied.changes) {
          const stamp = stampOf(change.by, revision);
          const key = changedKey(change, stamp);
          changed.push({ key });
          if (!change.isExpiry) changes.push({ key, versionstamp: formatStamp(stamp) });
        }
      } else if (!component.needsState && this.#checksFail(component, result)) {
        // Only a single write has checks and needs no state.
        outcomes[component.writes[0]!.index] = null;
      } else {
        for (const write of component.writes) {
          if (checksRanges(write) && !write.needsReservation) write.needsReservation = true;
          else if (!component.needsState) write.needsState = true;
          again.push(write);
        }
      }
    }
    this.#rangeChecks.committed(changes);
    this.#listener.committed(revision, changed);
    return again;
  }

  /** True if the found entries are not those that the checks of keys require. */
  #checksFail({ writes }: Component, { found }: TransactionResult): boolean {
    const now = Date.now();
    const versionstamps = new Map<string, string | null>();
    for (const record of found) {
      const key = this.#keys.entryKeyOf(record.key);
      const entry = entryOf(key, record);
      const isAbsent = !(entry instanceof Error) && hasExpired(entry, now);
      const stored = entry instanceof Error ? "damaged" : entry.versionstamp;
      versionstamps.set(textOf(key), isAbsent ? null : stored);
    }
    return writes.some(({ write }) =>
      write.checks.some(
        ({ key, versionstamp }) => (versionstamps.get(textOf(key)) ?? null) !== versionstamp,
      ),
    );
  }
}

/** True if etcd would refuse each part of a batch for the same reason. */
function isForAll(error: unknown): boolean {
  return error instanceof EtcdOutOfSpaceError || error instanceof EtcdAccessDeniedError;
}

/** Returns the entry of a record, or the error if the record is damaged. */
function entryOf(entryKey: Uint8Array, record: KeyValue): StoredEntry | Error {
  try {
    return decodeRecord(entryKey, record);
  } catch (error) {
    return error as Error;
  }
}
