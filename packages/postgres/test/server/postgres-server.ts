import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./free-port.js";
import { installedServer } from "./installed-server.js";
import { childrenOf, kill } from "./process-tree.js";

const run = promisify(execFile);

/** A PostgreSQL server on a free port of the loopback interface, in a folder of its own. */
export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** @param settings additional settings, such as `fsync=off`. */
  static async start(settings: readonly string[] = ["fsync=off"]): Promise<PostgresServer> {
    const folder = await emptyFolder();
    const data = join(folder, "data");
    await runTool("initdb", ["-D", data, "-U", "keywright", "-A", "trust", "--no-sync"]);
    const server = new PostgresServer(folder, await freePort(), settings);
    await server.run();
    return server;
  }

  /** Starts a standby with a copy of the data of this server. */
  async startStandby(settings: readonly string[] = ["fsync=off"]): Promise<PostgresServer> {
    const folder = await emptyFolder();
    const source = `host=127.0.0.1 port=${this.port} user=keywright`;
    const data = join(folder, "data");
    await runTool("pg_basebackup", ["-D", data, "-R", "-c", "fast", "-d", source, "--no-sync"]);
    const standby = new PostgresServer(folder, await freePort(), settings);
    await standby.run();
    return standby;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `postgres://keywright@${this.address}/postgres`;
  }

  /** Starts the server, again after it was killed. Resolves when it accepts connections. */
  async run(): Promise<void> {
    const settings = [
      `port=${this.port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${this.folder}`,
      ...this.#settings,
    ].flatMap((setting) => ["-c", setting]);
    const { folder, uid } = installedServer();
    const data = join(this.folder, "data");
    // In a process group of its own, so that signals reach the processes of all sessions.
    this.#process = spawn(join(folder, "postgres"), ["-D", data, ...settings], {
      stdio: "ignore",
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    for (;;) {
      const client = new pg.Client({ connectionString: this.url });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return await client.end();
      } catch {
        if (this.#process.exitCode !== null) throw new Error("the server did not start");
        await sleep(50);
      }
    }
  }

  /** Sends a signal to all processes of the server. */
  signal(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#process!;
    if (exitCode !== null || signalCode !== null) return;
    for (const each of [...childrenOf(pid!), pid!]) kill(each, signal);
  }

  /** Kills the server, without a checkpoint. Resolves when it has ended. */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process!;
    if (exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process!, "exit");
    this.signal("SIGKILL");
    await ended;
  }

  async promote(): Promise<void> {
    await runTool("pg_ctl", ["promote", "-D", join(this.folder, "data")]);
  }

  /** Makes these users give their passwords. */
  async requirePassword(...users: readonly string[]): Promise<void> {
    await this.addAccess(...users.map((user) => `host all ${user} 127.0.0.1/32 scram-sha-256`));
  }

  /** Puts lines before those of `pg_hba.conf`. */
  async addAccess(...lines: readonly string[]): Promise<void> {
    const file = join(this.folder, "data", "pg_hba.conf");
    await writeFile(file, [...lines, await readFile(file, "utf8")].join("\n"));
    await this.query("SELECT pg_reload_conf()");
  }

  /** Accepts TLS, with a certificate of an authority of the tests. */
  async acceptTls(): Promise<void> {
    const { uid } = installedServer();
    for (const name of ["server.pem", "server-key.pem"]) {
      const file = join(this.folder, name);
      await copyFile(new URL(`tls/${name}`, import.meta.url), file);
      await chmod(file, 0o600);
      if (uid !== undefined) await chown(file, uid, uid);
      const setting = name === "server.pem" ? "ssl_cert_file" : "ssl_key_file";
      await this.query(`ALTER SYSTEM SET ${setting} = '${file}'`);
    }
    await this.query("ALTER SYSTEM SET ssl = on");
    await this.query("SELECT pg_reload_conf()");
  }

  /** Returns the rows of a query. */
  async query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Runs a program of PostgreSQL on this server, and returns what it prints. */
  async runTool(tool: string, args: readonly string[]): Promise<string> {
    return await runTool(tool, [...args, "-d", this.url]);
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function runTool(tool: string, args: readonly string[]): Promise<string> {
  const { folder, uid } = installedServer();
  const user = uid === undefined ? {} : { uid, gid: uid };
  const { stdout } = await run(join(folder, tool), args, {
    ...user,
    cwd: tmpdir(),
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** Returns a new folder that belongs to the user of the server, which refuses to run as root. */
async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-postgres-"));
  const { uid } = installedServer();
  if (uid !== undefined) await chown(folder, uid, uid);
  return folder;
}
