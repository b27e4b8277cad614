import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder, removeFolder } from "./temporary-folder.js";

/** A network between clients and an owner, which can fail without a word to either of them. */
export interface Network {
  connect(): Promise<Socket>;
  /** From now on, open connections transport nothing. New ones work. */
  drop(): void;
  /** From now on, open connections transport nothing to clients. New ones work. */
  dropAnswers(): void;
  /** From now on, transports what clients send in pieces, one every 20 ms. */
  slowDown(pieceBytes: number): void;
  /** Transports nothing on any connection until `resume`, as if the owner was stopped. */
  stop(): void;
  /** Transports all that was sent since `stop`. */
  resume(): void;
  close(): Promise<void>;
}

/** @param path the socket of the owner. */
export async function startNetwork(path: string): Promise<Network> {
  const folder = await makeFolder();
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  const nears = new Set<Socket>();
  let isStopped = false;
  /** Bytes of clients that are transported at once. */
  let pieceBytes = Number.POSITIVE_INFINITY;
  const write = async (from: Socket, to: Socket, chunk: Buffer) => {
    if (!nears.has(from) || chunk.length <= pieceBytes) {
      to.write(chunk);
      return;
    }
    from.pause();
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      to.write(chunk.subarray(start, start + pieceBytes));
      await sleep(20);
    }
    from.resume();
  };
  const transport = (from: Socket, to: Socket) => {
    from.on("data", (chunk) => void write(from, to, chunk));
    from.once("close", () => to.destroy());
    from.on("error", () => undefined);
    if (isStopped) from.pause();
  };
  const listener = createServer((near) => {
    const far = connect(path);
    pairs.add([near, far]);
    nears.add(near);
    transport(near, far);
    transport(far, near);
  });
  const socketPath = join(folder, "s");
  await new Promise<void>((resolve) => listener.listen(socketPath, resolve));
  const silence = (socket: Socket) => {
    socket.removeAllListeners("data");
    socket.removeAllListeners("close");
    socket.resume();
  };
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect(socketPath, () => resolve(socket));
        socket.once("error", reject);
      }),
    drop: () => {
      for (const sockets of pairs) for (const socket of sockets) silence(socket);
    },
    dropAnswers: () => {
      for (const [, far] of pairs) silence(far);
    },
    slowDown: (bytes) => {
      pieceBytes = bytes;
    },
    stop: () => {
      isStopped = true;
      for (const sockets of pairs) for (const socket of sockets) socket.pause();
    },
    resume: () => {
      isStopped = false;
      for (const sockets of pairs) for (const socket of sockets) socket.resume();
    },
    close: async () => {
      for (const sockets of pairs) for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
      await removeFolder(folder);
    },
  };
}
