import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { MemoryLevel } from "memory-level";
import { CommitQueue } from "../src/engine/commit/commit-queue.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import type { RemoteEngineOptions } from "../src/engine/remote/client/remote-engine.js";
import { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import { EngineServer } from "../src/engine/remote/server/engine-server.js";
import type { Access, ServedDatabase } from "../src/engine/remote/server/served-database.js";
import { TurnLine } from "../src/engine/turns.js";
import type { AtomicWrite, Engine, QueueListener } from "../src/index.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

export interface Owner {
  readonly engine: Engine;
  readonly server: EngineServer;
  /** The line for turns of the current server. */
  readonly turns: TurnLine;
  readonly path: string;
  connect(): Promise<Socket>;
  /** The bytes that clients have not read. */
  unreadBytes(): number;
  /** Ends the connections, as the end of the process would. */
  disconnect(): void;
  /**
   * Replaces the server by one that knows nothing of the clients, on the same engine.
   *
   * @param hasTurns false if the new server is of a version that has no line for turns.
   */
  restart(hasTurns?: boolean): void;
  close(): Promise<void>;
}

export interface OwnerOptions {
  /** How long clients wait for an owner that is silent, in milliseconds. */
  readonly patience?: number;
  readonly listen?: ServedDatabase["listen"];
  /** Checks the writes of clients. By default any bytes are keys and values, as for an engine. */
  readonly check?: (write: AtomicWrite) => void;
  /** What clients may do, if it is not everything. */
  readonly access?: Partial<Access>;
}

/** Starts the owner of a database in memory, which listens on a socket. */
export async function startOwner(options: OwnerOptions = {}): Promise<Owner> {
  const { patience, listen = noQueue, check = () => undefined, access } = options;
  const folder = await makeFolder();
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
  const engine = await LevelEngine.open(level as unknown as LevelDatabase);
  const queue = new CommitQueue(engine, 1000);
  let turns = new TurnLine();
  const start = (hasTurns = true) =>
    new EngineServer(
      {
        engine,
        turns: hasTurns ? turns : undefined,
        mode: "specification",
        check,
        commit: (write) => queue.commit(write),
        listen,
      },
      patience,
    );
  let server = start();
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    server.accept(socket, { canWrite: true, maxMessageBytes: 1 << 26, ...access });
  });
  const path = join(folder, "s");
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    engine,
    path,
    get server() {
      return server;
    },
    get turns() {
      return turns;
    },
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect(path, () => resolve(socket));
        socket.once("error", reject);
      }),
    unreadBytes: () => [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0),
    disconnect,
    restart: (hasTurns) => {
      disconnect();
      turns = new TurnLine();
      server = start(hasTurns);
    },
    close: async () => {
      await server.close();
      listener.close();
      await engine.close();
      await removeFolder(folder);
    },
  };
}

function noQueue(): QueueListener {
  throw new Error("There is no queue.");
}

export async function connectTo(
  owner: Pick<Owner, "connect">,
  options?: RemoteEngineOptions,
): Promise<RemoteEngine> {
  return await RemoteEngine.open(() => owner.connect(), options);
}
