import { realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import { describe, expect, it } from "vitest";
import * as backups from "../src/backup.js";
import type { LevelDatabase } from "../src/engine/level/level-engine.js";
import * as core from "../src/index.js";
import {
  copyKv,
  decodeKey,
  decodeValue,
  encodeKey,
  encodeValue,
  type KvKey,
  type KvListSelector,
  type KvMutation,
  KvU64,
  LogUnsupportedError,
  moveKv,
  type OpenKvOptions,
  openKv,
  PastUnknownError,
} from "../src/index.js";
import { openKv as openKvInBrowser } from "../src/kv/open-kv-in-browser.js";
import * as tools from "../src/tools.js";
import { engineOf } from "./engine-of.js";
import { withFolder } from "./temporary-folder.js";

/** Part of the keys and values that the tests use. No message may contain it. */
const secret = "ada@example.com";

type Open = (path?: string | LevelDatabase, options?: OpenKvOptions) => Promise<core.EmbeddedKv>;

interface Place {
  /** An empty folder. */
  readonly folder: string;
  /** Opens a database that is closed when the test ends. */
  readonly open: Open;
}

interface Case {
  readonly name: string;
  /** Makes the calls of which the last one throws. */
  readonly provoke: (place: Place) => unknown;
  /** `String(error)` without the name of the class. */
  readonly text: string | ((folder: string) => string);
}

const handedIn = (level: unknown) => level as LevelDatabase;

const emptySink: backups.BackupSink = {
  put: async () => undefined,
  get: async () => undefined,
  list: async () => [],
  delete: async () => undefined,
};

const cases: readonly Case[] = [
  {
    name: "UnsupportedRuntimeError",
    // It is thrown only while the package is imported.
    provoke: () => Promise.reject(new core.UnsupportedRuntimeError("v18.20.8")),
    text: "Keywright needs Node.js 20.15, Deno 2.9 or Bun 1.4, or a later version. This runtime reports Node.js v18.20.8. Update it.",
  },
  {
    name: "BrowserUnsupportedError",
    provoke: () => openKvInBrowser("./data"),
    text: 'openKv: in a browser, Keywright opens no folder and no server. Use openKv() for a database in memory. If this program runs in Node.js, its bundler or test runner resolves packages for browsers: remove "browser" from its conditions.',
  },
  {
    name: "InvalidKeyError",
    provoke: async ({ open }) => (await open()).get([secret, Symbol("a")] as unknown as KvKey),
    text: "The key is not valid: part 1 is a symbol. A key part is a Uint8Array, string, number, bigint or boolean.",
  },
  {
    name: "MalformedKeyError",
    provoke: () => decodeKey(encodeKey([1, secret]).subarray(0, -1)),
    text: "The encoded key is malformed at byte 10: the last part has no end. Pass bytes that encodeKey returned, and the key order that they were encoded in.",
  },
  {
    name: "UnsupportedValueError",
    provoke: async ({ open }) =>
      (await open()).set([secret], { users: new Map([[secret, [1, () => secret]]]) }),
    text: "value.users.get(…)[1] cannot be stored: it is a function. Leave it out, or convert it to plain data.",
  },
  {
    name: "MalformedValueError",
    provoke: () => decodeValue(Uint8Array.of(7, 0xc0)),
    text: "The encoded value is malformed: its bytes (format 7, length 2) are not one complete value. Pass bytes that encodeValue returned.",
  },
  {
    name: "UnreadableValueError",
    // As if a newer runtime had stored a regular expression that this one does not support.
    provoke: () => decodeValue(encodeValue(/#/).map((byte) => (byte === 0x23 ? 0x28 : byte))),
    text: "A stored value has a regular expression that this version of Node.js, Deno or Bun does not support. Read the value with the version that wrote it, or with a newer one.",
  },
  {
    name: "NotU64Error",
    provoke: async ({ open }) => {
      const kv = await open();
      await kv.set([secret], secret);
      await kv.atomic().sum([secret], 1n).commit();
    },
    text: "sum: the value stored under the key is not a KvU64. Store a KvU64 there first, or use another key.",
  },
  {
    name: "InvalidOptionError",
    provoke: async ({ open }) => (await open()).enqueue(secret, { delay: -1 }),
    text: "enqueue: delay must be a number of milliseconds from 0 to 2592000000 (30 days).",
  },
  {
    name: "LimitExceededError",
    provoke: async ({ open }) => {
      const kv = await open(":memory:", { limits: { valueBytes: 10 } });
      await kv.set([secret], secret);
    },
    text: "The limit valueBytes is exceeded: the encoded value has 17 bytes, and the maximum is 10. Store a smaller value, or open the database with a higher limits.valueBytes.",
  },
  {
    name: "CommitMissingError",
    provoke: async ({ open }) => await ((await open()).atomic() as unknown),
    text: "An atomic operation was awaited without commit(), and nothing was written. Await its commit() instead.",
  },
  {
    name: "InvalidVersionstampError",
    provoke: async ({ open }) =>
      (await open()).atomic().check({ key: [secret], versionstamp: secret }),
    text: "check: the versionstamp is not valid: its length is 15. Pass the versionstamp of a read or a commit (20 lower-case hexadecimal digits), or null for an absent entry.",
  },
  {
    name: "RangeChecksUnsupportedError",
    provoke: async () => {
      const kv = await openKv(await engineOf());
      kv.atomic().checkRange?.({ prefix: [secret] }, "0".repeat(20));
    },
    text: "This database cannot check ranges. kv.checksRanges is true for databases that can: in memory, LevelDB folders, LMDB files, PostgreSQL and etcd.",
  },
  {
    name: "LogOffError",
    provoke: async ({ open }) => await (await open()).changes().next(),
    text: 'The database keeps no log of its commits. Open it once with openKv(where, { log: { keep: "7 days" } }), or run `keywright log on`.',
  },
  {
    name: "ConsumerLostError",
    provoke: async () => {
      const kv = await openKv(":memory:", { log: {} });
      await kv.set(["a"], 1);
      await kv.consume("copy", async () => {
        await kv.removeConsumer("copy");
      });
    },
    text: "The consumer copy cannot continue with this commit: it was removed. Nothing was written. End the handler.",
  },
  {
    name: "ConsumerTimeoutError",
    provoke: async () => {
      const kv = await openKv(":memory:", { log: {} });
      await kv.set(["a"], 1);
      const stopping = new AbortController();
      let failure: unknown;
      const onError = (error: unknown) => {
        failure = error;
        stopping.abort();
      };
      const hang = () => new Promise<void>(() => undefined);
      await kv.consume("copy", hang, { timeout: 1, onError, signal: stopping.signal });
      throw failure;
    },
    text: "The handler of the consumer copy has not ended after 1 ms. Raise the option timeout, or end the handler when its signal is aborted.",
  },
  {
    name: "LogTruncatedError",
    provoke: async () => {
      const kv = await openKv(":memory:", { log: {} });
      await kv.changes({ after: "0".repeat(20) }).next();
    },
    text: "The log no longer has all commits after 00000000000000000000. It has those after 00000000000000010000. Begin again from a snapshot, and keep the log for longer.",
  },
  {
    name: "RestoreUnfinishedError",
    provoke: async ({ folder, open }) => {
      const kv = await open(folder);
      await kv.set(["__keywright", "restore"], 1);
      await kv.close();
      await openKv(folder);
    },
    text: (folder) =>
      `A restore into ${folder} has not finished. If it is not running any longer, restore again: it begins from the start.`,
  },
  {
    name: "DatabaseMovedError",
    provoke: async ({ folder, open }) => {
      await moveKv(await open(folder, { log: {} }), ":memory:", { to: "there" });
      await openKv(folder);
    },
    text: (folder) =>
      `The database ${folder} was moved to there. Open it there. To read what is still here, open it with allowMoved: true. To use it again, call undoMove: what was written to the new place since is then missing here.`,
  },
  {
    name: "DatabaseMovingError",
    provoke: async () => {
      const kv = await openKv(":memory:", { log: {} });
      await kv.set(["__keywright", "move"], [1, "", "there", "moving", Date.now() + 1e6]);
      await kv.set([secret], 1);
    },
    text: "The database is being moved to there, and accepts no commits for a moment. The commit was not applied. Repeat it: if the database was moved by then, it fails with KW_DATABASE_MOVED.",
  },
  {
    name: "MoveFailedError",
    provoke: async ({ open }) => {
      const target = await open();
      await target.set([secret], 1);
      await moveKv(await openKv(":memory:", { log: {} }), target);
    },
    text: "The database was not moved: the target cannot be used: it is not empty.",
  },
  {
    name: "MoveUnfinishedError",
    provoke: async ({ folder, open }) => {
      const kv = await open(folder);
      await kv.set(["__keywright", "restore"], ["move", "", "", false]);
      await kv.close();
      await openKv(folder);
    },
    text: (folder) =>
      `A move into ${folder} has not finished. If it is not running any longer, move again with the same source and target: it continues.`,
  },
  {
    name: "BackupDamagedError",
    provoke: () => {
      throw new backups.BackupDamagedError("1.full", "its checksum does not match");
    },
    text: "The backup is damaged: 1.full: its checksum does not match. Restore an earlier moment, or what can be read with partial: true.",
  },
  {
    name: "BackupFormatError",
    provoke: () => {
      throw new backups.BackupFormatError("1.full", "has the unknown format 2");
    },
    text: "The backup cannot be read: 1.full has the unknown format 2.",
  },
  {
    name: "BackupKeyError",
    provoke: () => {
      throw new backups.BackupKeyError("1.full", false);
    },
    text: "The backup is encrypted, and no key was given (1.full). Give the key that it has.",
  },
  {
    name: "BackupFullNeededError",
    provoke: async () => {
      const kv = await openKv(":memory:");
      await backups.backup(kv, emptySink, { incremental: true });
    },
    text: "The backup cannot be continued: the sink has no backup. Make a full backup, or give fullIfNeeded: true.",
  },
  {
    name: "BackupMomentError",
    provoke: () => backups.restore(emptySink, ":memory:"),
    text: "The backup does not have this state: there is no backup.",
  },
  {
    name: "BackupDatabaseError",
    provoke: () => {
      throw new backups.BackupDatabaseError("restore", "it is not empty");
    },
    text: "restore: the database cannot be used: it is not empty.",
  },
  {
    name: "LockTakenError",
    provoke: async ({ open }) => {
      const kv = await open();
      await tools.withLock(kv, ["a"], () => tools.withLock(kv, ["a"], () => 1, { waitFor: 0 }));
    },
    text: "The lock is taken, and was not free within waitFor. Call again later, or wait longer.",
  },
  {
    name: "LockLostError",
    provoke: () => {
      throw new tools.LockLostError(["a"]);
    },
    text: "The lock was lost while its task ran: the lease ended before it could be renewed. What the task has written without the check of the lock may overlap with the next holder.",
  },
  {
    name: "BlobAbandonedError",
    provoke: () => {
      throw new tools.BlobAbandonedError(["a"]);
    },
    text: "The write of a blob stood still for so long that its data was deleted. The blob is as it was before. Write it again.",
  },
  {
    name: "BlobDamagedError",
    provoke: async ({ open }) => {
      const kv = await open();
      const files = tools.blobs(kv);
      await files.set(["a"], new Uint8Array(10));
      for await (const { key } of kv.list({ prefix: ["blobs", "chunk"] })) await kv.delete(key);
      await files.get(["a"]);
    },
    text: "A blob is damaged: its part at byte 0 is missing or does not match its checksum. Write the blob again, or restore it from a backup.",
  },
  {
    name: "PastLimitError",
    provoke: async () => {
      const kv = await openKv(":memory:", { log: {} });
      const { versionstamp } = await kv.set(["a"], 1);
      await kv.set(["a"], 2);
      await kv.openPast(versionstamp, { maxChanges: 0 });
    },
    text: "More than 0 entries have been changed since the moment. Raise maxChanges, or choose a later moment.",
  },
  {
    name: "PastUnknownError",
    provoke: () => {
      throw new PastUnknownError([secret]);
    },
    text: "The log does not tell the earlier value of a key: this engine logs min and max without it.",
  },
  {
    name: "LogUnsupportedError",
    provoke: () => {
      throw new LogUnsupportedError(
        "another process owns the database; give the option log to that process",
      );
    },
    text: "The database cannot keep a log of its commits: another process owns the database; give the option log to that process.",
  },
  {
    name: "InvalidSelectorError",
    provoke: async ({ open }) => (await open()).list({ prefix: [secret], start: ["a", secret] }),
    text: "The list selector or one of its options is not valid: its start must extend its prefix.",
  },
  {
    name: "DatabasePathError",
    provoke: async ({ folder, open }) => {
      await writeFile(join(folder, "notes.txt"), secret);
      await open(folder);
    },
    text: (folder) =>
      `The database at ${folder} cannot be opened: the folder holds other files, such as "notes.txt". Use another path, or correct the folder and its permissions.`,
  },
  {
    name: "DatabaseNotFoundError",
    provoke: ({ folder, open }) => open(folder, { createIfMissing: false }),
    text: (folder) =>
      `There is no database at ${folder}, and none was created. Correct the path, or create the database first: openKv does, unless readOnly is true or createIfMissing is false.`,
  },
  {
    name: "DatabaseLockedError",
    provoke: async ({ folder, open }) => {
      // LevelDB refuses a second opening of the folder, also within one process.
      await open(handedIn(new ClassicLevel(folder)));
      await open(folder);
    },
    text: (folder) =>
      `The database at ${folder} is open in another process or thread. Close it there, or open it in both without attach: false, so that this one can attach.`,
  },
  {
    name: "DatabaseFormatError",
    provoke: async ({ folder, open }) => {
      const level = new ClassicLevel(folder);
      await level.put(secret, secret);
      await level.close();
      await open(folder);
    },
    text: (folder) =>
      `The database at ${folder} cannot be read: it holds data and has no Keywright header. Check the path, and update Keywright if a later version wrote the database.`,
  },
  {
    name: "DatabaseModeError",
    provoke: async ({ folder, open }) => {
      await open(folder, { compat: "deno" });
      await open(folder);
    },
    text: (folder) =>
      `The database at ${folder} was created with compat: "deno". Open it with that option, or copy it into a new database with copyKv.`,
  },
  {
    name: "ReadOnlyError",
    provoke: async ({ folder, open }) => {
      await open(folder);
      await (await open(folder, { readOnly: true })).set([secret], secret);
    },
    text: (folder) =>
      `set: the database at ${folder} is open for reading only. Open it without readOnly to write to it.`,
  },
  {
    name: "DatabaseClosedError",
    provoke: async ({ folder, open }) => {
      const kv = await open(folder);
      await kv.close();
      await kv.get([secret]);
    },
    text: (folder) =>
      `get: the database at ${folder} is closed. Make the call before close(), or open the database again.`,
  },
  {
    name: "CorruptionError",
    provoke: async ({ folder, open }) => {
      const kv = await open(folder);
      await kv.set([secret], secret);
      await kv.close();
      await rm(join(folder, "CURRENT"));
      await open(folder);
    },
    text: (folder) =>
      `The database at ${folder} is damaged: its file CURRENT is missing. Keep a copy of its files, and restore a backup, or run keywright repair.`,
  },
  {
    name: "EngineFailedError",
    provoke: async ({ open }) => {
      const level = new MemoryLevel();
      const kv = await open(handedIn(level));
      level.batch = () => {
        throw new Error("IO error: /data/000003.log: No space left on device");
      };
      await kv.set([secret], secret);
    },
    text: "The storage engine failed during a commit. It is unknown whether the commit is on disk, and no further commit is accepted. Close the database and open it again. Cause: IO error: /data/000003.log: No space left on device.",
  },
  {
    name: "EngineUnavailableError",
    provoke: async () => {
      const cause = new Error("connect ECONNREFUSED");
      const remedy = "Start the server, or correct the address";
      const error = new core.EngineUnavailableError("no server answers", remedy, cause);
      await (await openKv(await engineOf({ failure: error }))).set([secret], secret);
    },
    text: "The server of the database cannot be used: no server answers. Nothing was written. Start the server, or correct the address. Cause: connect ECONNREFUSED.",
  },
  {
    name: "AmbiguousCommitError",
    provoke: async () => {
      const error = new core.AmbiguousCommitError(10_000, new Error("read ECONNRESET"));
      await (await openKv(await engineOf({ failure: error }))).set([secret], secret);
    },
    text: "It is unknown whether the commit was applied: the server of the database did not answer within 10000 ms. Read what the commit would have changed before you repeat it. Cause: read ECONNRESET.",
  },
  {
    name: "ReadViewEndedError",
    provoke: async () => {
      const view = await (await engineOf({ hasViews: true })).openView!();
      view.close();
      await view.get(encodeKey([secret]));
    },
    text: "The state of the database that is read is no longer available: it was closed. Begin the read again.",
  },
  {
    name: "DatabaseChangedError",
    provoke: async ({ open }) => {
      const from = await openKv(await engineOf());
      const writes: Promise<unknown>[] = [];
      await from.set([secret], secret);
      try {
        await copyKv(from, await open(), {
          onProgress: ({ verified }) => {
            if (verified === 0) writes.push(from.set(["other"], secret));
          },
        });
      } finally {
        await Promise.all(writes);
        await from.close();
      }
    },
    text: "The database changed while it was copied. The copy is not complete: programs wrote to it or entries expired, and the database has no views of one state. Stop the programs that write to it, then call again.",
  },
  {
    name: "CopyFailedError",
    provoke: async ({ open }) => {
      const [from, to] = [await open(), await open(":memory:", { limits: { keyBytes: 20 } })];
      await from.set([secret, secret], secret);
      await copyKv(from, to);
    },
    text: "copyKv cannot continue: the target refuses an entry; change the entry or the limits of the target, then copy again. What was copied so far stays in the target. Cause: The limit keyBytes is exceeded: the encoded key has 34 bytes, and the maximum is 20. Use a shorter key, or open the database with a higher limits.keyBytes.",
  },
  {
    name: "CopyUnreadableError",
    provoke: async ({ open }) => {
      const [from, to] = [await open(), await open(":memory:")];
      await from.set(["a"], 1);
      await from.set([secret], secret);
      await copyKv(unreadableAfter(from, 1), to);
    },
    text: "copyKv cannot read an entry of the source: this runtime cannot decode its value, because a newer runtime has written it. Run the copy in that runtime, for example in Deno. Cause: Unable to deserialize cloned data.",
  },
];

/** A database that fails as `@deno/kv` does at an entry that a later Deno has written. */
function unreadableAfter(kv: core.Kv, entries: number): core.Kv {
  return new Proxy(kv, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (property === "openView") return undefined;
      if (typeof member !== "function") return member;
      if (property !== "list") return member.bind(target);
      return async function* (selector: core.KvListSelector) {
        let left = entries;
        for await (const entry of target.list(selector)) {
          if (left-- === 0) throw new Error("Unable to deserialize cloned data.");
          yield entry;
        }
      };
    },
  });
}

/** Returns the error that calls on databases in an empty folder throw. */
async function errorOf(provoke: Case["provoke"], onFolder = (_: string) => {}): Promise<Error> {
  const opened: core.EmbeddedKv[] = [];
  return await withFolder(async (temporary) => {
    const folder = await realpath(temporary);
    onFolder(folder);
    const open: Open = async (path, options) => {
      const kv = await openKv(path, options);
      opened.push(kv);
      return kv;
    };
    try {
      await provoke({ folder, open });
    } catch (error) {
      return error as Error;
    } finally {
      for (const kv of opened) await kv[Symbol.asyncDispose]();
    }
    throw new Error("no call has thrown");
  });
}

async function messageOf(provoke: Case["provoke"]): Promise<string> {
  const { message } = await errorOf(provoke);
  expect(message).not.toContain(secret);
  return message;
}

describe("the message of each error says what is wrong, where, and what to do", () => {
  it.each(cases)("$name", async ({ name, provoke, text }) => {
    let path = "";
    const error = await errorOf(provoke, (folder) => {
      path = folder;
    });
    const message = typeof text === "string" ? text : text(path);
    expect(String(error)).toBe(`${name}: ${message}`);
    expect(error.message).not.toContain(secret);
    expect(core.coreErrorCodes).toContain((error as core.KeywrightError).code);
  });

  it("of every class, and every code has a class", async () => {
    const bases: unknown[] = [core.KeywrightError, core.KeywrightTypeError];
    const classes = Object.values<unknown>({ ...core, ...backups, ...tools }).filter(
      (value): value is ErrorConstructor =>
        Object.prototype.isPrototypeOf.call(Error, value as object) && !bases.includes(value),
    );
    const names = cases.map(({ name }) => name);
    expect(names.toSorted()).toEqual(classes.map(({ name }) => name).toSorted());
    const codes = [];
    for (const { provoke } of cases)
      codes.push(((await errorOf(provoke)) as { code?: string }).code);
    expect(codes.toSorted()).toEqual([...core.coreErrorCodes].toSorted());
  });
});

describe("a message about a key", () => {
  const parts = "Each part is a Uint8Array, string, number, bigint or boolean.";
  it.each<[unknown, string]>([
    [[], `The key is not valid: it has no parts. A key is an array of at least one part. ${parts}`],
    [
      secret,
      `The key is not valid: it is a string. A key is an array of at least one part. ${parts}`,
    ],
    [["a", [secret]], "The key is not valid: part 1 is an array."],
    [["a", null], "The key is not valid: part 1 is null."],
    [
      [`${secret}\ud800`],
      "The key is not valid: part 0 is a string with a lone surrogate, which toWellFormed() replaces.",
    ],
    [
      [1n << 600_000n],
      "The key is not valid: part 0 is a bigint of more than 65535 bytes, the maximum.",
    ],
  ])("%#", async (key, text) => {
    expect(await messageOf(async ({ open }) => (await open()).get(key as KvKey))).toContain(text);
  });
});

describe("a message about an option names the call and the option", () => {
  const mutate =
    (mutation: object) =>
    async ({ open }: Place) =>
      (await open()).atomic().mutate({ key: [secret], ...mutation } as unknown as KvMutation);
  const opening =
    (options: object) =>
    ({ open }: Place) =>
      open(":memory:", options as OpenKvOptions);
  const noKeys = [] as const;

  it.each<[string, Case["provoke"]]>([
    ['openKv: durability must be "full" or "relaxed".', opening({ durability: secret })],
    ['openKv: compat must be undefined or "deno".', opening({ compat: secret })],
    ["openKv: createIfMissing must be true or false.", opening({ createIfMissing: secret })],
    [
      "openKv: durabilty is not an option; the options are durability, compat, limits, readOnly, createIfMissing, checkFiles, cacheBytes, attach, token, log, allowMoved.",
      opening({ durabilty: "full" }),
    ],
    [
      'openKv: where must be a path, ":memory:", the URL of a server, an engine or an abstract-level database.',
      ({ open }) => open(""),
    ],
    [
      "openKv: token must be given for a URL, or in the variable KEYWRIGHT_TOKEN of the environment.",
      ({ open }) => open("https://example.com/secret"),
    ],
    [
      "openKv: limits.keys must be a positive integer or Infinity.",
      opening({ limits: { keys: 0 } }),
    ],
    [
      "openKv: limits.bytes is not a limit; the limits are keyBytes, valueBytes, keys, batchSize, watchedKeys, checks, mutations, totalMutationBytes, totalKeyBytes.",
      opening({ limits: { bytes: 1 } }),
    ],
    [
      "set: expireIn must be a positive number of milliseconds, at most 8640000000000000.",
      async ({ open }) => (await open()).set([secret], secret, { expireIn: 0 }),
    ],
    [
      'mutate: type must be "set", "delete", "sum", "min" or "max".',
      mutate({ type: "add", value: 1 }),
    ],
    [
      "mutate: value must be given for every mutation except delete, which has none.",
      mutate({ type: "delete", value: secret }),
    ],
    [
      "enqueue: keysIfUndelivered must be an array of keys.",
      async ({ open }) =>
        (await open()).enqueue(1, { keysIfUndelivered: secret as unknown as KvKey[] }),
    ],
    [
      "enqueue: backoffSchedule must be an array of at most 5 intervals.",
      async ({ open }) => (await open()).enqueue(1, { backoffSchedule: [1, 2, 3, 4, 5, 6] }),
    ],
    [
      "enqueue: backoffSchedule[1] must be a number of milliseconds from 0 to 3600000 (an hour).",
      async ({ open }) => (await open()).enqueue(1, { backoffSchedule: [1, -2] }),
    ],
    [
      "listenQueue: handler must be a function.",
      async ({ open }) => (await open()).listenQueue(secret as unknown as () => void),
    ],
    ["watch: keys must not be empty.", async ({ open }) => (await open()).watch(noKeys)],
    [
      "watchRange: selectors must be an array of at least one selector.",
      async ({ open }) => (await open()).watchRange([]),
    ],
    [
      "copyKv: to must be another database than the source.",
      async ({ open }) => {
        const kv = await open();
        await copyKv(kv, kv);
      },
    ],
  ])("%s", async (text, provoke) => {
    expect(await messageOf(provoke)).toBe(text);
  });
});

describe("a message about a selector", () => {
  it.each<[string, unknown, object?]>([
    ["it must be an object with a prefix, or with a start and an end.", secret],
    ["it must have a prefix, or both a start and an end.", { start: [secret] }],
    ["its start must not be after its end.", { start: ["b"], end: ["a"] }],
    [
      "with a prefix it may have a start or an end, but not both.",
      { prefix: [], start: ["a"], end: ["b"] },
    ],
    ["its end must extend its prefix.", { prefix: [secret], end: [secret] }],
    ["limit must be a positive integer.", { prefix: [] }, { limit: -1 }],
    ["batchSize must be a positive integer.", { prefix: [] }, { batchSize: 0.5 }],
    ["the cursor must be a string.", { prefix: [] }, { cursor: 1 }],
    [
      "the cursor must come from an iterator with the same selector.",
      { prefix: [] },
      { cursor: secret },
    ],
  ])("%s", async (text, selector, options) => {
    const list = async ({ open }: Place) =>
      (await open()).list(selector as KvListSelector, options);
    const start = "The list selector or one of its options is not valid: ";
    expect(await messageOf(list)).toBe(start + text);
  });
});

describe("a message about a limit names it, the size and the maximum", () => {
  it.each<[string, string, (kv: core.EmbeddedKv) => unknown]>([
    ["keyBytes", "the encoded key has 17 bytes", (kv) => kv.get([secret])],
    ["keys", "the call has 3 keys", (kv) => kv.getMany([["a"], ["b"], ["c"]])],
    ["watchedKeys", "the call has 3 keys", (kv) => kv.watch([["a"], ["b"], ["c"]])],
    [
      "mutations",
      "the atomic operation has 3 mutations",
      (kv) => kv.atomic().delete(["a"]).delete(["b"]).delete(["c"]).commit(),
    ],
    [
      "totalMutationBytes",
      "the atomic operation has 20 bytes of keys and values",
      (kv) => kv.atomic().set(["a"], secret).commit(),
    ],
  ])("%s", async (limit, size, call) => {
    const message = await messageOf(async ({ open }) =>
      call(await open(":memory:", { limits: { [limit]: 2 } })),
    );
    expect(message).toMatch(`The limit ${limit} is exceeded: ${size}, and the maximum is 2. `);
    expect(message).toContain(`, or open the database with a higher limits.${limit}.`);
  });

  it("and only the maximum if the size is not known", () => {
    expect(new core.LimitExceededError("checks", 100, Number.NaN).message).toBe(
      "The limit checks is exceeded: the maximum is 100. Divide the atomic operation into smaller ones, or open the database with a higher limits.checks.",
    );
  });
});

describe("a message of a closed database names the call", () => {
  it.each<[string, (kv: core.EmbeddedKv) => unknown]>([
    ["getMany", (kv) => kv.getMany([[secret]])],
    ["set", (kv) => kv.set([secret], secret)],
    ["delete", (kv) => kv.delete([secret])],
    ["enqueue", (kv) => kv.enqueue(secret)],
    ["atomic", (kv) => kv.atomic()],
    ["list", (kv) => kv.list({ prefix: [secret] })],
    ["watch", (kv) => kv.watch([[secret]])],
    ["watchRange", (kv) => kv.watchRange([{ prefix: [secret] }])],
    ["listenQueue", (kv) => kv.listenQueue(() => undefined)],
  ])("%s", async (name, call) => {
    const message = await messageOf(async ({ open }) => {
      const kv = await open();
      await kv.close();
      await call(kv);
    });
    expect(message).toMatch(`${name}: the database is closed. `);
  });
});

describe("a message of a copy says what to do", () => {
  const progressKey = ["__keywright", "copy"];
  it.each<[string, unknown]>([
    ["the stored progress is not readable; copy again with restart: true.", secret],
    [
      "the stored progress is of another source, or the first entry of this one has changed; copy again with restart: true.",
      {
        first: { key: encodeKey([secret]), versionstamp: "0".repeat(20) },
        last: { key: encodeKey([secret]), versionstamp: "0".repeat(20) },
        entries: 1,
        bytes: 1,
      },
    ],
  ])("%s", async (text, progress) => {
    const message = await messageOf(async ({ open }) => {
      const [from, to] = [await open(), await open()];
      await to.set(progressKey, progress);
      await copyKv(from, to);
    });
    expect(message).toMatch(`copyKv cannot continue: ${text}`);
  });
});

it("an error of compat mode has Deno's message, and that of Keywright as the message of its cause", async () => {
  const error = await errorOf(async ({ open }) => {
    const kv = await open(":memory:", { compat: "deno" });
    await kv
      .atomic()
      .mutate({ type: "sum", key: ["a"], value: secret as unknown as KvU64 })
      .commit();
  });
  expect(error.message).toBe("Some of the parameters are not valid V8 values");
  expect((error.cause as Error).message).toBe("sum: the operand is not a KvU64. Pass a KvU64.");
  const closed = await errorOf(async ({ open }) => {
    const kv = await open(":memory:", { compat: "deno" });
    await kv.close();
    await kv.set(["a"], new KvU64(1n));
  });
  expect(closed.message).toBe("Bad resource ID");
});
