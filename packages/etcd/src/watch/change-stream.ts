import type { Buffer } from "node:buffer";
import type { EtcdClient } from "../client/etcd-client.js";
import type { WatchEvent, WatchResponse } from "../client/etcd-messages.js";
import { pause, retryDelay } from "../client/retry-delay.js";
import type { KeySpace } from "../record/key-space.js";

type Changed = readonly { readonly key: Uint8Array }[];

export interface ChangeStreamOptions {
  /** True for the record that each batch of this process writes. */
  isOwn(key: Buffer): boolean;
  /** Called with the changed keys of each revision, in the order of the revisions. */
  onChanged(changed: Changed): void;
  /** Called if changes were missed, because etcd has compacted their revisions. */
  onMissed(): void;
}

/** Milliseconds between two checks that the member of the stream still answers. */
const heartbeat = 2000;

/** The changes of one revision that were received and not reported yet. */
interface Received {
  readonly revision: number;
  readonly changed: Changed;
  /** True for a batch of this process. It is reported as `committed` names it. */
  isOwn: boolean;
}

/**
 * The changes of a database from a revision on. After a failure, the stream resumes on the next
 * endpoint with the revision after the last one that it has received.
 *
 * etcd does not report the deletion of an absent key, so the changes of this process's own batches
 * are those that `committed` names. They keep their place in the order.
 */
export class ChangeStream {
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  readonly #options: ChangeStreamOptions;
  #nextRevision: number;
  #received: Received[] = [];
  readonly #committed = new Map<number, Changed>();
  #hasEnded = false;
  #endCurrent: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: EtcdClient,
    keys: KeySpace,
    firstRevision: number,
    options: ChangeStreamOptions,
  ) {
    this.#client = client;
    this.#keys = keys;
    this.#nextRevision = firstRevision;
    this.#options = options;
    void this.#run();
    this.#timer = setInterval(() => void this.#checkMember(), heartbeat);
    this.#timer.unref();
  }

  /** Names the changes of a batch of this process. */
  committed(revision: number, changed: Changed): void {
    const isExpected =
      revision >= this.#nextRevision || this.#received.some((each) => each.revision === revision);
    if (isExpected) this.#committed.set(revision, changed);
    this.#report();
  }

  /** Reports the batches of this process as etcd does, because their outcome remains unknown. */
  abandoned(): void {
    for (const each of this.#received) each.isOwn = false;
    this.#report();
  }

  end(): void {
    this.#hasEnded = true;
    clearInterval(this.#timer);
    this.#endCurrent();
  }

  /** Never rejects: a failed stream is opened again. */
  async #run(): Promise<void> {
    for (let attempt = 0; !this.#hasEnded; attempt++) {
      const hadResponse = await this.#streamOnce().catch(() => false);
      if (hadResponse) attempt = -1;
      if (!this.#hasEnded) await pause(retryDelay(Math.max(attempt, 0)));
    }
  }

  /** Resolves when the stream has ended: true if etcd has accepted it. */
  async #streamOnce(): Promise<boolean> {
    let isCreated = false;
    const { stream, end } = await this.#client.watch(() => end());
    this.#endCurrent = end;
    await new Promise<void>((resolve) => {
      stream.on("data", (response: WatchResponse) => {
        if (this.#hasEnded) return;
        isCreated ||= response.created;
        if (!this.#receive(response)) end();
      });
      stream.on("error", () => {
        if (!isCreated) this.#client.leaveEndpoint();
        resolve();
      });
      stream.on("end", resolve);
      if (this.#hasEnded) end();
      else
        stream.write({
          createRequest: {
            ...this.#keys.all,
            startRevision: this.#nextRevision,
            progressNotify: true,
          },
        });
    });
    end();
    return isCreated;
  }

  /** Returns false if the stream has to be opened again. */
  #receive(response: WatchResponse): boolean {
    const { header, events, compactRevision, canceled } = response;
    if (compactRevision > 0) {
      this.#nextRevision = compactRevision;
      this.#received = [];
      this.#committed.clear();
      this.#options.onMissed();
      return false;
    }
    if (canceled) return false;
    const last = events.at(-1);
    if (last !== undefined) {
      this.#nextRevision = last.kv.modRevision + 1;
      this.#received.push(...this.#byRevision(events));
      this.#report();
    } else if (!response.created && header.revision >= this.#nextRevision) {
      this.#nextRevision = header.revision + 1;
    }
    return true;
  }

  /** All events of one revision are in one response. */
  #byRevision(events: readonly WatchEvent[]): Received[] {
    const revisions = new Map<number, { changed: { key: Uint8Array }[]; isOwn: boolean }>();
    for (const { kv } of events) {
      let entry = revisions.get(kv.modRevision);
      if (entry === undefined) {
        entry = { changed: [], isOwn: false };
        revisions.set(kv.modRevision, entry);
      }
      entry.isOwn ||= this.#options.isOwn(kv.key);
      const key = this.#keys.entryKeyOf(kv.key);
      if (!this.#keys.isHidden(key)) entry.changed.push({ key });
    }
    return Array.from(revisions, ([revision, entry]) => ({ revision, ...entry }));
  }

  /** Reports what was received, up to a batch of this process that still has no answer. */
  #report(): void {
    for (let next = this.#received[0]; next !== undefined; next = this.#received[0]) {
      const changed = next.isOwn ? this.#committed.get(next.revision) : next.changed;
      if (changed === undefined) return;
      this.#committed.delete(next.revision);
      this.#received.shift();
      if (changed.length > 0) this.#options.onChanged(changed);
    }
  }

  /** A member that has stopped keeps its streams open. A failed call moves them to another one. */
  async #checkMember(): Promise<void> {
    await this.#client.attempt("Maintenance.Status", {}, heartbeat / 2).catch(() => undefined);
  }
}
