import { Buffer } from "node:buffer";
import { chmod, mkdir, open, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

const socketName = "attach.sock";
const draftName = "attach.new";
/** The id of the process that listens, for others that it does not answer. */
const ownerName = "attach.pid";
/** The path of a socket may have about 104 bytes, depending on the system. */
const maxPathBytes = 100;

/**
 * Accepts connections of other processes of the same user on a socket in the folder of a database.
 * The process must own the database. Does nothing on a system or a disk without such sockets.
 *
 * @returns a function that ends this.
 */
export async function listenInFolder(
  folder: string,
  onConnection: (socket: Socket) => void,
): Promise<() => Promise<void>> {
  if (process.platform === "win32") return async () => undefined;
  const draft = join(folder, draftName);
  const server = createServer(onConnection);
  try {
    await rm(draft, { recursive: true, force: true });
    // In a folder of its own nobody else can connect before the permissions are set.
    await mkdir(draft, { mode: 0o700 });
    await withShortPath(draft, "s", (path) => listening(server, path));
    await chmod(join(draft, "s"), 0o600);
    await writeFile(join(folder, ownerName), `${process.pid}\n`);
    await rename(join(draft, "s"), join(folder, socketName));
    await rm(draft, { recursive: true, force: true });
  } catch {
    server.close();
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    return async () => undefined;
  }
  server.unref();
  return async () => {
    // Not `rm`, which would call `lstat`: Node.js 20 resolves links wrongly after that of a socket.
    await unlink(join(folder, socketName)).catch(() => undefined);
    await unlink(join(folder, ownerName)).catch(() => undefined);
    server.close();
  };
}

/** Connects to the process that owns the database in a folder. Rejects if none answers. */
export async function connectInFolder(folder: string): Promise<Socket> {
  return await withShortPath(folder, socketName, connected);
}

/** Returns the id of the process that listens in a folder, or that did until it was killed. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, ownerName), "utf8").catch(() => "");
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // Otherwise the primary of a cluster listens for its workers, also after one is killed.
    server.listen({ path, exclusive: true }, resolve);
  });
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    // It stays, because an error before the caller listens to the socket would end the process.
    socket.on("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

/** Calls a function with a path of a file in a folder that is not too long for a socket. */
async function withShortPath<T>(
  folder: string,
  name: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= maxPathBytes) return await use(path);
  if (process.platform !== "linux") throw new Error("The path of the socket is too long.");
  const handle = await open(folder);
  try {
    return await use(`/proc/self/fd/${handle.fd}/${name}`);
  } finally {
    await handle.close();
  }
}
