import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { AmbiguousCommitError } from "@keywright/core";
import { CallFailure } from "../client/call-failure.js";
import type { EtcdClient } from "../client/etcd-client.js";
import type { Compare, KeyValue, RangeResponse, TxnRequest } from "../client/etcd-messages.js";
import { readKeys } from "../client/read-keys.js";
import { Snapshot } from "../client/snapshot.js";
import { typedFailure, unavailable } from "../client/typed-failure.js";
import type { KeySpace } from "../record/key-space.js";
import type { Reservation } from "./reservation.js";
import {
  type BatchTransaction,
  hasRevision,
  holds,
  requestOf,
  resultOf,
  type TransactionResult,
} from "./transaction.js";
import { groupTransactions, ungroupResponses } from "./transaction-groups.js";

/** The record of a session: the number of its last batch, and when that was sent. */
const sessionBytes = 16;

/** The answer to a batch. Undefined if its reservation was ended before, so it has no effect. */
export type BatchAnswer =
  | { readonly revision: number; readonly results: readonly TransactionResult[] }
  | undefined;

/**
 * Sends batches so that each is applied at most once, however often it has to be sent.
 *
 * A session has a record in etcd. Each batch is sent under the condition that the record is at the
 * revision at which the batch before it has left it, and writes its own number there. If a batch is
 * sent again and its number is found in the record, it was applied at the revision of the record.
 * Which of its transactions were applied is then calculated from the state before that revision.
 */
export class CommitSession {
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  readonly #reservation: Reservation;
  #key: Buffer;
  /** The revision of the record, 0 before the first batch. */
  #revision = 0;
  #number = 0;
  /** Records of earlier sessions, of which a batch may still be on its way. */
  #abandoned: Buffer[] = [];

  constructor(client: EtcdClient, keys: KeySpace, reservation: Reservation) {
    this.#client = client;
    this.#keys = keys;
    this.#reservation = reservation;
    this.#key = keys.sessionOf(randomBytes(16));
  }

  /** True for the key of the session's record. */
  isOwn(key: Buffer): boolean {
    return this.#key.equals(key);
  }

  /**
   * Returns the comparisons that hold if no other session has made a batch at or after a revision.
   */
  noOtherSince(modRevision: number): Compare[] {
    const { sessions, sweep } = this.#keys;
    const isOlder = { target: "MOD", result: "LESS", modRevision } as const;
    return [
      { ...isOlder, key: sessions.key, rangeEnd: this.#key },
      { ...isOlder, key: this.#keys.after(this.#key), rangeEnd: this.#keys.after(sweep) },
    ];
  }

  /** Returns the revision of the last batch or sweep that another process has made. */
  async #newestOfOthers(snapshot: Snapshot): Promise<number> {
    const [{ kvs }] = (await snapshot.read([
      {
        key: this.#keys.sessions.key,
        rangeEnd: this.#keys.after(this.#keys.sweep),
        sortTarget: "MOD",
        sortOrder: "DESCEND",
        limit: 2,
      },
    ])) as [RangeResponse];
    return kvs.find(({ key }) => !this.isOwn(key))?.modRevision ?? 0;
  }

  /**
   * Sends a batch. No other batch of the session may be under way.
   *
   * @param reserved the reserved revision that is the versionstamp of the batch, if it has one.
   * @throws {AmbiguousCommitError} if it remains unknown whether the batch was applied.
   * @throws {EngineUnavailableError} if etcd does not answer in time, and the batch has no effect.
   */
  async send(
    transactions: readonly BatchTransaction[],
    reserved: number | undefined,
  ): Promise<BatchAnswer> {
    const started = Date.now();
    const attempts = this.#client.attempts();
    await this.#fenceAbandoned();
    const number = ++this.#number;
    /** True if an earlier attempt may have been applied, or may still be. */
    let isUnknown = false;
    const abandon = (cause?: unknown) => {
      this.#abandoned.push(this.#key);
      this.#renew();
      return new AmbiguousCommitError(Date.now() - started, cause);
    };
    for (;;) {
      const request = this.#request(number, transactions, reserved);
      try {
        const response = await this.#client.attempt("KV.Txn", request, attempts.time);
        if (response.succeeded) {
          this.#revision = response.header.revision;
          const responses = response.responses.filter(({ responseTxn }) => responseTxn);
          const results = ungroupResponses(responses, transactions.length).map(resultOf);
          return { revision: this.#revision, results };
        }
        const [record, reservation] = response.responses.map((op) => op.responseRange?.kvs[0]);
        if (record !== undefined && numberOf(record) === number) {
          this.#revision = record.modRevision;
          return { revision: this.#revision, results: await this.#recover(transactions, started) };
        }
        if ((record?.modRevision ?? 0) !== this.#revision) {
          // The record was swept, because the session had made no commit for long.
          if (isUnknown) throw abandon();
          this.#renew();
        } else if (reserved !== undefined) {
          return undefined;
        } else if (reservation !== undefined) {
          await this.#reservation.waitFor(reservation);
          if (attempts.areOver) {
            if (isUnknown) throw abandon();
            throw unavailable(this.#client.endpoints, new Error("another process blocks commits"));
          }
        }
        attempts.answered();
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        if (error.kind === "refused") throw isUnknown ? abandon(error) : typedFailure(error);
        isUnknown ||= error.kind === "unknown";
        if (!(await attempts.pauseAfter(error))) {
          throw isUnknown ? abandon(error) : unavailable(this.#client.endpoints, error);
        }
      }
    }
  }

  #request(
    number: number,
    transactions: readonly BatchTransaction[],
    reserved: number | undefined,
  ): TxnRequest {
    const { reservation } = this.#keys;
    const release = { requestDeleteRange: { key: reservation } };
    return {
      compare: [hasRevision(this.#key, this.#revision), hasRevision(reservation, reserved ?? 0)],
      success: [
        // Not nested, because etcd counts only such operations against its storage quota.
        { requestPut: { key: this.#key, value: sessionRecord(number) } },
        ...(reserved === undefined ? [] : [release]),
        ...groupTransactions(transactions.map((each) => ({ requestTxn: requestOf(each) }))),
      ],
      failure: [{ requestRange: { key: this.#key } }, { requestRange: { key: reservation } }],
    };
  }

  #renew(): void {
    this.#key = this.#keys.sessionOf(randomBytes(16));
    this.#revision = 0;
    this.#number = 0;
  }

  /**
   * Changes the records of abandoned sessions, so that no batch of theirs is applied after a later
   * batch of this process.
   */
  async #fenceAbandoned(): Promise<void> {
    while (this.#abandoned.length > 0) {
      const keys = this.#abandoned.slice(0, 64);
      const value = sessionRecord(0);
      const success = keys.map((key) => ({ requestPut: { key, value } }));
      await this.#client.read("KV.Txn", { success });
      this.#abandoned = this.#abandoned.slice(keys.length);
    }
  }

  /** Returns which transactions were applied at the revision of the record. */
  async #recover(
    transactions: readonly BatchTransaction[],
    started: number,
  ): Promise<TransactionResult[]> {
    const compares = transactions.flatMap(({ compare }) => compare);
    const keys = compares.flatMap((each) => ("rangeEnd" in each ? [] : [each.key as Buffer]));
    const before = new Snapshot(this.#client, { revision: this.#revision - 1 });
    try {
      const stored = await readKeys(before, keys);
      const newest = compares.some((each) => "rangeEnd" in each)
        ? await this.#newestOfOthers(before)
        : 0;
      return transactions.map(({ compare, readOnFailure }) => {
        const succeeded =
          holds(compare, stored) &&
          compare.every((each) => !("rangeEnd" in each) || newest < each.modRevision);
        const found = readOnFailure.flatMap((key) => stored.get(key.toString("latin1")) ?? []);
        return { succeeded, found: succeeded ? [] : found };
      });
    } catch (error) {
      // So that the watches report the batch as one of another process.
      this.#renew();
      throw new AmbiguousCommitError(Date.now() - started, error);
    }
  }
}

function sessionRecord(number: number): Buffer {
  const record = Buffer.alloc(sessionBytes);
  record.writeBigUInt64BE(BigInt(number));
  record.writeBigUInt64BE(BigInt(Date.now()), 8);
  return record;
}

function numberOf({ value }: KeyValue): number {
  return Number(value.readBigUInt64BE());
}

/** Returns when the last batch of a session was sent, in milliseconds since the epoch. */
export function lastUseOf({ value }: KeyValue): number {
  return value.length === sessionBytes ? Number(value.readBigUInt64BE(8)) : 0;
}
