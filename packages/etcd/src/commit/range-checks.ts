import type { Buffer } from "node:buffer";
import { InvalidVersionstampError, type RangeCheck } from "@keywright/core";
import { hasExpired, RecentCommits } from "@keywright/core/engine";
import type { EtcdClient } from "../client/etcd-client.js";
import type { Compare, KeyValue, RangeResponse } from "../client/etcd-messages.js";
import { readKeys } from "../client/read-keys.js";
import { Snapshot } from "../client/snapshot.js";
import { EtcdCompactedError } from "../errors/etcd-errors.js";
import { decodeRecord } from "../record/entry-record.js";
import type { KeySpace } from "../record/key-space.js";
import { lastPosition, parseStamp, type Stamp } from "../record/stamp.js";
import type { RangeOutcomes } from "./apply-writes.js";
import type { CommitSession } from "./commit-session.js";
import type { Component } from "./component.js";
import type { PendingWrite } from "./pending-write.js";

/** How many ranges one request reads: each takes two of the `--max-txn-ops` of etcd. */
const rangesPerRequest = 50;
/** If more keys have to be compared, the check fails. */
const mostKeys = 10_000;

type EtcdRange = ReturnType<KeySpace["rangeOf"]>;

const beforeAll = "0".repeat(20);

/** A change by a commit of this engine. */
export interface OwnChange {
  readonly key: Uint8Array;
  readonly versionstamp: string;
}

export function checksRanges({ readRanges }: PendingWrite): boolean {
  return readRanges.length > 0;
}

/**
 * The range checks of writes. The engine knows the changes of its own commits. If no other session
 * has made a batch since the versionstamp of a check, nothing else can have changed, and etcd
 * compares that in the request of the batch. Otherwise the range is read while a revision is
 * reserved.
 */
export class RangeChecks {
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  readonly #session: CommitSession;
  /** The commits of this engine whose outcomes are known. */
  readonly #own = new RecentCommits(beforeAll);
  #lastOwn = beforeAll;

  constructor(client: EtcdClient, keys: KeySpace, session: CommitSession) {
    this.#client = client;
    this.#keys = keys;
    this.#session = session;
  }

  /** Adds the changes of the next batch of this engine. */
  committed(changes: readonly OwnChange[]): void {
    const commits = new Map<string, Uint8Array[]>();
    for (const { key, versionstamp } of changes) {
      const keys = commits.get(versionstamp);
      if (keys === undefined) commits.set(versionstamp, [key]);
      else keys.push(key);
    }
    for (const versionstamp of [...commits.keys()].sort()) {
      this.#own.add(versionstamp, commits.get(versionstamp)!);
      this.#lastOwn = versionstamp;
    }
  }

  /**
   * Marks the writes whose versionstamps may be later than the last commit. A later revision shows
   * whether they are.
   */
  findLate(writes: readonly PendingWrite[]): void {
    for (const pending of writes) {
      const { rangeChecks = [] } = pending.write;
      pending.needsReservation ||= rangeChecks.some(
        ({ versionstamp }) => parseStamp(versionstamp).revision > this.#client.lastRevision,
      );
    }
  }

  /**
   * Returns the outcomes of range checks, except those for which `comparesOf` returns comparisons.
   *
   * @param reserved the reserved revision, if a component needs one. Until the batch is applied,
   * nothing else changes.
   */
  async outcomesOf(
    components: readonly Component[],
    reserved: number | undefined,
  ): Promise<RangeOutcomes> {
    const outcomes = new Map<PendingWrite, boolean | Error>();
    const read: PendingWrite[] = [];
    for (const { writes, needsReservation } of components) {
      for (const pending of writes.filter(checksRanges)) {
        if (needsReservation) read.push(pending);
        else if (!this.#holdForOwn(pending)) outcomes.set(pending, false);
      }
    }
    if (read.length > 0) await this.#read(read, reserved!, outcomes);
    return outcomes;
  }

  /** Returns comparisons that hold if no other session can have changed what writes check. */
  comparesOf(writes: readonly PendingWrite[], outcomes: RangeOutcomes): Compare[] {
    const firsts = writes
      .filter((pending) => !outcomes.has(pending))
      .flatMap(({ write }) => write.rangeChecks ?? [])
      .map(({ versionstamp }) => {
        const { revision, position } = parseStamp(versionstamp);
        // Other commits of its batch may be later than a commit.
        return position === lastPosition ? revision + 1 : revision;
      });
    return firsts.length === 0 ? [] : this.#session.noOtherSince(Math.min(...firsts));
  }

  #holdForOwn({ write: { rangeChecks = [] } }: PendingWrite): boolean {
    return rangeChecks.every(
      (check) => check.versionstamp > this.#lastOwn || this.#own.holds(check),
    );
  }

  async #read(
    writes: readonly PendingWrite[],
    reserved: number,
    outcomes: Map<PendingWrite, boolean | Error>,
  ): Promise<void> {
    const groups = new Map<string, RangeCheck[]>();
    const failed = new Set<RangeCheck>();
    for (const pending of writes) {
      for (const check of pending.write.rangeChecks!) {
        const { range, versionstamp } = check;
        const { key, rangeEnd } = this.#keys.rangeOf(range);
        const group = groups.get(versionstamp);
        if (parseStamp(versionstamp).revision > reserved) {
          const error = new InvalidVersionstampError(versionstamp, "no commit has it yet");
          outcomes.set(pending, error);
        } else if (key.compare(rangeEnd) >= 0) continue;
        else if (group === undefined) groups.set(versionstamp, [check]);
        else group.push(check);
      }
    }
    const reads = Array.from(groups, async ([versionstamp, checks]) => {
      for (let start = 0; start < checks.length; start += rangesPerRequest) {
        const part = checks.slice(start, start + rangesPerRequest);
        const held = await this.#hold(part, versionstamp);
        for (const [i, check] of part.entries()) if (!held[i]) failed.add(check);
      }
    });
    // All of them end first, so that none is left running if one fails.
    await Promise.allSettled(reads);
    await Promise.all(reads);
    for (const pending of writes) {
      const hasFailed = pending.write.rangeChecks!.some((check) => failed.has(check));
      if (!outcomes.has(pending)) outcomes.set(pending, !hasFailed);
    }
  }

  /** Returns for each check if it holds. All have the same versionstamp. */
  async #hold(checks: readonly RangeCheck[], versionstamp: string): Promise<readonly boolean[]> {
    const stamp = parseStamp(versionstamp);
    // The state of a commit is between those of two revisions if other commits of its batch follow.
    const base = stamp.position === lastPosition ? stamp.revision : stamp.revision - 1;
    const none = checks.map(() => false);
    if (base < 1) return none;
    const before = new Snapshot(this.#client, { revision: base });
    const now = new Snapshot(this.#client);
    const ranges = checks.map(({ range }) => this.#keys.rangeOf(range));
    try {
      const [counts, changes] = await Promise.all([
        before.read(ranges.map((range) => ({ ...range, countOnly: true }))),
        now.read(
          ranges.map((range) => ({
            ...range,
            keysOnly: true,
            minModRevision: base + 1,
            sortTarget: "MOD",
            sortOrder: "DESCEND",
            limit: stamp.position === lastPosition ? 1 : mostKeys,
          })),
        ),
      ]);
      return await Promise.all(
        ranges.map(async (range, i) => {
          const change = changes[i]!;
          if (change.kvs.length === 0 && change.count === counts[i]!.count) return true;
          if (change.more || counts[i]!.count > mostKeys) return false;
          return (
            (await this.#areNotAfter(stamp, change.kvs, now)) &&
            (await this.#onlyExpired(range, before, now))
          );
        }),
      );
    } catch (error) {
      if (error instanceof EtcdCompactedError) return none;
      throw error;
    }
  }

  /** True if keys were last written by the commit of a stamp, or by one before it. */
  async #areNotAfter(stamp: Stamp, changed: readonly KeyValue[], now: Snapshot): Promise<boolean> {
    if (changed.length === 0) return true;
    const [{ modRevision }] = changed as [KeyValue];
    // Those of one batch have one revision.
    const isOneBatch = changed.every((each) => each.modRevision === modRevision);
    if (stamp.position === lastPosition || !isOneBatch) return false;
    const stored = await readKeys(
      now,
      changed.map(({ key }) => key),
    );
    return [...stored.values()].every((record) => {
      const { revision, position } = parseStamp(this.#entryOf(record).versionstamp);
      return revision === stamp.revision && position <= stamp.position;
    });
  }

  /** True if the keys of a range that no longer exist have expired. */
  async #onlyExpired(range: EtcdRange, before: Snapshot, now: Snapshot): Promise<boolean> {
    const [old, current] = await Promise.all([keysOf(range, before), keysOf(range, now)]);
    const remaining = new Set(current.map((key) => key.toString("latin1")));
    const removed = old.filter((key) => !remaining.has(key.toString("latin1")));
    const stored = await readKeys(before, removed);
    const time = Date.now();
    return [...stored.values()].every((record) => hasExpired(this.#entryOf(record), time));
  }

  #entryOf(record: KeyValue) {
    return decodeRecord(this.#keys.entryKeyOf(record.key), record);
  }
}

async function keysOf(range: EtcdRange, snapshot: Snapshot): Promise<readonly Buffer[]> {
  const [{ kvs }] = (await snapshot.read([{ ...range, keysOnly: true }])) as [RangeResponse];
  return kvs.map(({ key }) => key);
}
