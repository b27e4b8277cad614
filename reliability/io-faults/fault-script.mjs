import { setTimeout } from "node:timers/promises";
import { isKeywrightError, openKv, repairDatabase } from "@keywright/core";
import { ExpectedRows } from "../shared/expected-rows.mjs";
import { makeCall } from "../shared/make-call.mjs";
import { accountIds, migrateModels, openModels } from "../shared/models.mjs";
import { problemsAfterMigration, storedRows } from "../shared/stored-rows.mjs";

/** No call takes that long, even on a busy machine. */
const patience = 20_000;

/**
 * Works with a database while calls of the system fail, and compares what is left with what was
 * acknowledged. The old program creates the database and closes it, and the new one opens it,
 * migrates it and closes it. Each goes on as far as it can. The options are
 * - `models`: true if the programs have models. Without them, a run takes a fifth of the time;
 * - `verifies`: true if the programs verify the files, and if the database is repaired at the end;
 * - `blobs` and `blobBytes`: how many values each program sets beside its rows, and their size.
 */
export class FaultScript {
  /** What is wrong, in words. */
  problems = [];
  /** How often each code was the answer of a call. */
  refusals = {};
  #path;
  #options;
  #expected = new ExpectedRows();
  /** The sizes of the blobs that were acknowledged. */
  #stored = new Map();
  /** The messages that were acknowledged and not delivered. */
  #messages = new Set();

  constructor(path, options) {
    this.#path = path;
    this.#options = options;
  }

  /** Runs the two programs. Calls of the system may fail meanwhile. */
  async work() {
    await this.#open("old", async () => undefined);
    await this.#open("new", async (db) => {
      await this.#attempt("migrate", () => migrateModels(db));
    });
    if (this.#options.verifies)
      await this.#attempt("repair", () => repairDatabase(this.#path, { inPlace: true }));
  }

  /** Opens the database again, when no calls of the system fail, and compares it. */
  async examine() {
    await this.#examineWith({}, async (kv) => {
      this.problems.push(...this.#expected.settle(await storedRows(kv)));
      for (const [name, bytes] of this.#stored)
        if ((await kv.get(["blobs", name])).value?.length !== bytes)
          this.problems.push(`lost: blob ${name}`);
      await this.#receive(kv);
    });
    // The files were checked when the database was opened before.
    if (this.#options.models)
      await this.#examineWith({ checkFiles: false }, async (kv) => {
        this.problems.push(...(await problemsAfterMigration(kv)));
      });
  }

  async #examineWith(options, compare) {
    try {
      const kv = await openKv(this.#path, options);
      try {
        await compare(kv);
      } finally {
        await kv.close();
      }
    } catch (error) {
      this.problems.push(`after the fault: ${error.stack}`);
    }
  }

  async #open(schema, prepare) {
    const kv = await this.#attempt("open", () => openKv(this.#path));
    if (kv === undefined) return;
    const rows = await this.#attempt("list", () => storedRows(kv));
    // From here on it is known which of the refused calls have happened.
    if (rows !== undefined) this.#compare(rows);
    const watching = this.#attempt("watch", () => readToEnd(kv.watch([["users", "0-old-0"]])));
    const listening = this.#attempt("listenQueue", () =>
      kv.listenQueue((message) => void this.#messages.delete(message)),
    );
    if (this.#options.models) {
      const db = await this.#attempt("createDatabase", () => openModels(kv, schema));
      if (db !== undefined) {
        await prepare(db);
        await this.#useModels(db, schema);
      }
    }
    await this.#useKv(kv, schema);
    if (this.#options.verifies) await this.#attempt("verifyFiles", () => kv.verifyFiles());
    await this.#attempt("close", () => kv.close());
    await Promise.all([watching, listening]);
  }

  /**
   * Three clients make calls at the same time, each until one is refused. Then the rows are read.
   */
  async #useModels(db, schema) {
    const first = schema === "old" ? 0 : 10;
    const refused = await Promise.all(
      callsOfClients(schema).map(async (calls, i) => {
        for (const call of calls) {
          const client = first + i;
          this.#expected.begin({ client, ...call });
          const isDone = await this.#attempt(call.type, async () => {
            await makeCall(db, schema, call);
            return true;
          });
          if (isDone === undefined) return true;
          this.#expected.end(client);
        }
        return false;
      }),
    );
    if (!refused.includes(true)) await this.#readRows(db);
  }

  async #readRows(db) {
    const counted = await this.#attempt("count", () => db.users.count());
    const teams = ["team 0", "team 1", "team 2", "team 3", "team 4"];
    const found = await this.#attempt("findMany", async () => {
      const pages = await Promise.all(
        teams.map((team) => db.users.findMany({ where: { team }, take: 100 })),
      );
      return pages.flatMap(({ items }) => items).length;
    });
    if (counted !== undefined && found !== undefined && counted !== found)
      this.problems.push(`${counted} users are counted, and ${found} are found by team`);
  }

  async #useKv(kv, schema) {
    const message = `message ${schema}`;
    const isEnqueued = await this.#attempt("enqueue", () => {
      this.#messages.add(message);
      return kv.enqueue(message, { keysIfUndelivered: [["undelivered", schema]] });
    });
    if (isEnqueued === undefined) this.#messages.delete(message);
    await this.#attempt("set expiring", () => kv.set(["expires"], 1, { expireIn: 3_600_000 }));
    for (let i = 0; i < this.#options.blobs; i++) {
      const name = `${schema} ${i}`;
      const blob = new Uint8Array(this.#options.blobBytes).map(() => Math.random() * 256);
      const isSet = await this.#attempt("set", () => kv.set(["blobs", name], blob));
      if (isSet !== undefined) this.#stored.set(name, blob.length);
    }
    const rows = await this.#attempt("list", () => storedRows(kv));
    if (rows !== undefined && this.#expected.isSettled) this.#compare(rows);
  }

  #compare(rows) {
    for (const problem of this.#expected.settle(rows)) this.problems.push(`read: ${problem}`);
  }

  /** Waits for the messages that were acknowledged. Those of refused calls may arrive too. */
  async #receive(kv) {
    const arrived = new AbortController();
    void kv.listenQueue((message) => {
      this.#messages.delete(message);
      if (this.#messages.size === 0) arrived.abort();
    });
    if (this.#messages.size > 0)
      await setTimeout(patience, undefined, arrived).catch(() => undefined);
    for (const message of this.#messages) this.problems.push(`lost: ${message}`);
  }

  /** Makes a call. Returns undefined if it is refused, which needs an error with a code. */
  async #attempt(name, call) {
    const timeout = new AbortController();
    try {
      return await Promise.race([call(), hangs(timeout.signal)]);
    } catch (error) {
      const code = isKeywrightError(error) ? error.code : undefined;
      if (code === undefined) this.problems.push(`${name}: ${error?.stack ?? error}`);
      else this.refusals[`${name} ${code}`] = (this.refusals[`${name} ${code}`] ?? 0) + 1;
      return undefined;
    } finally {
      timeout.abort();
    }
  }
}

async function hangs(signal) {
  await setTimeout(patience, undefined, { signal, ref: true });
  throw new Error("the call hangs");
}

async function readToEnd(stream) {
  for await (const _change of stream);
}

function callsOfClients(round) {
  const id = (client, n) => `${round}-${client}-${n}`;
  return [
    [
      { type: "create", id: id(0, 0), points: 3 },
      { type: "post", id: id(0, 1), authorId: id(0, 0) },
      { type: "update", id: id(0, 0), points: 14 },
    ],
    [
      { type: "create", id: id(1, 0), points: 7 },
      { type: "post", id: id(1, 1), authorId: id(1, 0) },
      { type: "delete", id: id(1, 0) },
    ],
    [
      { type: "create", id: id(2, 0), points: 1 },
      { type: "transfer", id: id(2, 1), from: accountIds[0], to: accountIds[1], amount: 5 },
    ],
  ];
}
