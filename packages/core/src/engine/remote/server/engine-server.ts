import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { AmbiguousCommitError } from "../../../errors/core-errors.js";
import { awaitAll } from "../../../values/await-all.js";
import type { AtomicWrite, WriteOutcome } from "../../engine.js";
import { postponed } from "../../turns.js";
import { appliedVersionstamp, forgetAfter, forgetClients, withCommitId } from "../commit-ids.js";
import { defaultPatience } from "../messages.js";
import { ChangeLog } from "./change-log.js";
import type {
  Access,
  ConnectionHost,
  ServedDatabase,
  WriteGroupRequest,
} from "./served-database.js";
import { footprintOfWrite } from "./served-turns.js";
import { ServerConnection } from "./server-connection.js";

interface Client {
  /** The last group of commits, whose outcomes a repeated request gets. */
  group: number;
  outcomes: Promise<WriteOutcome[]>;
  connections: number;
  /** Ends its last connection. */
  end: () => void;
  forgetAt: NodeJS.Timeout | undefined;
}

/** A timer ticks this often in the time that a client waits for the owner. */
const ticksOfPatience = 5;
/** Ticks after which a client that sends nothing is gone: three times that time. */
const longestSilence = 15;

/** Serves a database to clients on streams: sockets in a folder, or connections of a server. */
export class EngineServer implements ConnectionHost {
  readonly database: ServedDatabase;
  readonly changes: ChangeLog;
  readonly instance: string = randomUUID();
  /** How many calls of each kind clients have made, such as `commit`. */
  readonly calls: Map<string, number> = new Map();
  readonly #connections = new Set<ServerConnection>();
  readonly #clients = new Map<string, Client>();
  /** Stops the recording of changes, unless a client connects again in time. */
  #stopTimer: NodeJS.Timeout | undefined;
  /** Undefined if there is no connection. */
  #ticking: NodeJS.Timeout | undefined;
  readonly #patience: number;
  #isFirst = true;
  /** True if all clients of an earlier owner have connected again or given up their commits. */
  #isLate = false;

  /** @param patience how long clients wait for an owner that is silent, in milliseconds. */
  constructor(database: ServedDatabase, patience: number = defaultPatience) {
    this.database = database;
    this.#patience = patience;
    this.changes = new ChangeLog(database.engine);
  }

  count(call: string): void {
    this.calls.set(call, (this.calls.get(call) ?? 0) + 1);
  }

  get connections(): number {
    return this.#connections.size;
  }

  /**
   * Serves a client until its stream ends. Does not keep the process alive.
   *
   * @returns a function that ends the stream when all requests are answered.
   */
  accept(stream: Duplex & { unref?(): unknown }, access: Access): { end(): Promise<void> } {
    stream.unref?.();
    this.changes.start();
    const connection = new ServerConnection(stream, this, access, () => {
      this.#connections.delete(connection);
      if (this.#connections.size > 0) return;
      clearInterval(this.#ticking);
      this.#ticking = undefined;
      this.#stopTimer = setTimeout(() => this.changes.stop(), forgetAfter);
      this.#stopTimer.unref();
    });
    clearTimeout(this.#stopTimer);
    this.#connections.add(connection);
    this.#ticking ??= setInterval(() => {
      for (const each of this.#connections) each.tick(longestSilence);
    }, this.#patience / ticksOfPatience).unref();
    if (this.#isFirst) {
      this.#isFirst = false;
      // Clients of an owner that has ended may still ask for its last commits.
      setTimeout(() => {
        this.#isLate = true;
        this.#forgetAll((id) => !this.#clients.has(id));
      }, forgetAfter).unref();
    }
    return connection;
  }

  /** Ends all connections after the commits that have begun. */
  async close(): Promise<void> {
    const outcomes = [...this.#clients.values()].map((client) => client.outcomes);
    await Promise.allSettled(outcomes);
    for (const { forgetAt } of this.#clients.values()) clearTimeout(forgetAt);
    await Promise.all([...this.#connections].map((connection) => connection.end()));
    clearTimeout(this.#stopTimer);
    this.changes.stop();
  }

  /**
   * Adds a connection of a client, and ends its earlier one: the client has lost it.
   *
   * @param id the id of the client, which stays the same when it connects again.
   * @param end ends the connection.
   */
  join(id: Uint8Array, end: () => void): void {
    const client = this.#clientOf(id);
    client.end();
    client.end = end;
    client.connections++;
    clearTimeout(client.forgetAt);
    client.forgetAt = undefined;
  }

  /** @param isFinal true if the client does not connect again. */
  leave(id: Uint8Array, isFinal: boolean): void {
    const client = this.#clientOf(id);
    client.connections--;
    if (client.connections > 0) return;
    clearTimeout(client.forgetAt);
    client.forgetAt = setTimeout(() => this.#forget(id), isFinal ? 0 : forgetAfter);
    client.forgetAt.unref();
  }

  /**
   * Commits a group of writes of a client. If the group was committed before, it returns the same
   * outcomes. A group that arrives after a later one is not committed: the client has given it up.
   */
  async commit(id: Uint8Array, request: WriteGroupRequest): Promise<WriteOutcome[]> {
    const { group, writes } = request;
    const client = this.#clientOf(id);
    if (client.group === group) return await client.outcomes;
    if (group < client.group) return writes.map(() => new AmbiguousCommitError(0));
    client.group = group;
    client.outcomes = awaitAll(writes.map((write, i) => this.#commitOne(id, request, i, write)));
    return await client.outcomes;
  }

  async #commitOne(
    id: Uint8Array,
    { group, turns, isRepeated }: WriteGroupRequest,
    position: number,
    write: AtomicWrite,
  ): Promise<WriteOutcome> {
    const { engine, commit, turns: line } = this.database;
    try {
      this.database.check(write);
      // An owner that was killed may have applied the write.
      const applied = isRepeated
        ? await appliedVersionstamp(engine, id, group, position).catch((error: unknown) => {
            throw new AmbiguousCommitError(0, error);
          })
        : undefined;
      if (applied !== undefined) return applied;
      if (turns[position] === 0 && line?.isUsed && line.conflictsWith(footprintOfWrite(write)))
        return postponed;
      return await commit(withCommitId(write, id, group, position));
    } catch (error) {
      return error as Error;
    }
  }

  #clientOf(id: Uint8Array): Client {
    const text = textOf(id);
    let client = this.#clients.get(text);
    if (client === undefined) {
      const outcomes = Promise.resolve([]);
      const end = () => undefined;
      client = { group: -1, outcomes, connections: 0, end, forgetAt: undefined };
      this.#clients.set(text, client);
    }
    return client;
  }

  #forget(id: Uint8Array): void {
    const text = textOf(id);
    const hasCommitted = this.#clients.get(text)?.group !== -1;
    this.#clients.delete(text);
    if (!hasCommitted) return;
    this.#forgetAll((other) => (this.#isLate || other === text) && !this.#clients.has(other));
  }

  /** Deletes the stored ids of some clients. A later call deletes what is left. */
  #forgetAll(isForgotten: (client: string) => boolean): void {
    const { engine, commit } = this.database;
    forgetClients(engine, commit, (id) => isForgotten(textOf(id))).catch(() => undefined);
  }
}

function textOf(id: Uint8Array): string {
  return Buffer.from(id).toString("hex");
}
