import { randomBytes } from "node:crypto";
import { CallFailure } from "../client/call-failure.js";
import type { EtcdClient } from "../client/etcd-client.js";
import type { KeyValue, TxnResponse } from "../client/etcd-messages.js";
import { pause } from "../client/retry-delay.js";
import { typedFailure, unavailable } from "../client/typed-failure.js";
import type { KeySpace } from "../record/key-space.js";
import { hasRevision } from "./transaction.js";

/**
 * Milliseconds after which a reservation of another process is ended, because that process has
 * stopped or has lost its connection. Its commit then has no effect and is made again.
 */
const longestReservation = 2000;
const shortestPause = 2;
const longestPause = 50;

/**
 * Reserves a revision for a batch whose keys end in its versionstamp. The versionstamp has to be
 * known before the request is made, but etcd assigns a revision only when it applies a request.
 * Therefore a first request writes the reservation, at the revision that becomes the versionstamp.
 * While it exists, no other batch of the database is applied. The batch itself removes it.
 */
export class Reservation {
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  /** The reservation of another process that was seen last, and since when. */
  #seen = { revision: 0, since: 0, pauses: 0 };

  constructor(client: EtcdClient, keys: KeySpace) {
    this.#client = client;
    this.#keys = keys;
  }

  /**
   * Returns the reserved revision.
   *
   * @throws {EngineUnavailableError} if etcd does not answer in time.
   */
  async acquire(): Promise<number> {
    const { reservation } = this.#keys;
    const token = randomBytes(16);
    const attempts = this.#client.attempts();
    for (;;) {
      try {
        const response = await this.#client.attempt(
          "KV.Txn",
          {
            compare: [hasRevision(reservation, 0)],
            success: [{ requestPut: { key: reservation, value: token } }],
            failure: [{ requestRange: { key: reservation } }],
          },
          attempts.time,
        );
        if (response.succeeded) return response.header.revision;
        const other = firstFound(response);
        if (other?.value.equals(token)) return other.modRevision;
        if (other !== undefined) await this.waitFor(other);
        if (attempts.areOver)
          throw unavailable(this.#client.endpoints, new Error("another process blocks commits"));
        attempts.answered();
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        if (error.kind === "refused") throw typedFailure(error);
        if (!(await attempts.pauseAfter(error))) throw unavailable(this.#client.endpoints, error);
      }
    }
  }

  /** Waits a little for the end of another reservation, or ends it if it exists for too long. */
  async waitFor({ modRevision }: KeyValue): Promise<void> {
    const now = performance.now();
    if (this.#seen.revision !== modRevision) {
      this.#seen = { revision: modRevision, since: now, pauses: 0 };
    }
    if (now - this.#seen.since > longestReservation) await this.release(modRevision);
    else await pause(Math.min(shortestPause * 2 ** this.#seen.pauses++, longestPause));
  }

  /** Ends a reservation if it still exists. A failure has no effect: others end it in time. */
  async release(revision: number): Promise<void> {
    const { reservation } = this.#keys;
    const compare = [hasRevision(reservation, revision)];
    const success = [{ requestDeleteRange: { key: reservation } }];
    await this.#client.attempt("KV.Txn", { compare, success }, 1000).catch(() => undefined);
  }
}

function firstFound({ responses }: TxnResponse): KeyValue | undefined {
  return responses[0]?.responseRange?.kvs[0];
}
