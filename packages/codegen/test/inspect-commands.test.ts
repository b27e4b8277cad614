import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { encodeKey, encodeValue, type Kv, type KvKey, KvU64, openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { City } from "./fixtures/plain/models/city.js";
import { createProject, type Project } from "./project.js";

const command = fileURLToPath(new URL("../bin/keywright.js", import.meta.url));

/** The database is where DATABASE says, and says when it is open. */
const config = `import { openKv } from "@keywright/core";
export default {
  models: "no-models/*.ts",
  output: "db",
  database: async () => {
    const kv = await openKv(import.meta.dirname + "/data");
    process.stderr.write(process.env.SAYS_OPEN ?? "");
    return kv;
  },
};
`;

let project: Project;

beforeEach(async () => {
  project = await createProject({ "keywright.config.ts": config });
});

afterEach(async () => {
  await project.remove();
});

async function withKv<T>(use: (kv: Kv) => Promise<T>, folder = "data"): Promise<T> {
  const kv = await openKv(project.path(folder));
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

const fill = (entries: readonly (readonly [KvKey, unknown])[]) =>
  withKv(async (kv) => {
    const atomic = kv.atomic();
    for (const [key, value] of entries) atomic.set(key, value);
    await atomic.commit();
  });

const content = () =>
  withKv(async (kv) => {
    const entries: string[] = [];
    for await (const { key, value, expireAt } of kv.list({ prefix: [] })) {
      const bytes = [encodeKey(key), encodeValue(value)].map((one) =>
        Buffer.from(one).toString("hex"),
      );
      entries.push(`${bytes.join(" ")} ${expireAt === undefined ? "stays" : "expires"}`);
    }
    return entries;
  });

const letters: readonly (readonly [KvKey, unknown])[] = [
  [["a"], 1],
  [["b", 1], "one"],
  [["b", 2n], new Map([["x", -0]])],
  [["b", Uint8Array.of(1, 2, 3), true], null],
  [["c"], new KvU64(5n)],
];

describe("inspect ls", () => {
  const lines = async (...args: string[]) => {
    const { exitCode, stdout } = await project.run(["inspect", "ls", ...args]);
    expect(exitCode).toBe(0);
    return stdout.split("\n").slice(0, -1);
  };

  it("lists keys, of a range, from either end", async () => {
    await fill(letters);
    const [a, ...rest] = ['["a"]', '["b", b64:AQID, true]', '["b", 1]', '["b", 2n]', '["c"]'];
    expect(await lines()).toEqual([a, ...rest]);
    expect(await lines('["b"]', "--reverse")).toEqual(rest.slice(0, 3).reverse());
    expect(await lines("--limit", "2")).toEqual([a, rest[0]]);
    expect(await lines("--start", '["b", 2n]')).toEqual(rest.slice(2));
    expect(await lines("--end", '["b"]')).toEqual([a]);
    expect(await lines('["b"]', "--start", '["b", 1]', "--end", '["b", 2n]')).toEqual([rest[1]]);
    expect(await lines('["b"]', "--values")).toEqual([
      '["b", b64:AQID, true]  null',
      "[\"b\", 1]  'one'",
      "[\"b\", 2n]  Map(1) { 'x' => -0 }",
    ]);
    expect(await lines('["c"]')).toEqual([]);
  });

  it("prints JSON", async () => {
    expect(JSON.parse((await lines("--json")).join("\n"))).toEqual([]);
    await fill(letters);
    const entries = JSON.parse((await lines('["b"]', "--values", "--json")).join("\n"));
    expect(entries).toMatchObject([
      { key: ["b", { $: "b64:AQID" }, true], value: null },
      { key: ["b", 1], value: "one", versionstamp: expect.stringMatching(/^[0-9a-f]{20}$/) },
      { key: ["b", { $: "2n" }], encoded: expect.any(String) },
    ]);
  });

  it.each([
    [["users"], "KW_KEY_NOTATION"],
    [["--start", '["a"'], "KW_KEY_NOTATION"],
    [['["b"]', "--start", '["c"]'], "KW_SELECTOR_INVALID"],
    [['["b"]', "--start", '["b", 1]', "--end", '["c"]'], "KW_SELECTOR_INVALID"],
    [["--limit", "0"], "positive whole number"],
  ])("refuses %j", async (args, message) => {
    const { exitCode, stdout, stderr } = await project.run(["inspect", "ls", ...args]);
    expect(stderr).toContain(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  it("ends quietly when nobody reads on", { timeout: 30_000 }, async () => {
    await fill(Array.from({ length: 900 }, (_, i) => [["key", "x".repeat(500), i], i]));
    const child = spawn(process.execPath, [command, "inspect", "ls"], { cwd: project.folder });
    let stderr = "";
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    await once(child.stdout, "data");
    child.stdout.destroy();
    const [exitCode] = await once(child, "close");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });
});

describe("inspect get", () => {
  it("shows a value, its versionstamp and its expiry", async () => {
    await withKv((kv) => kv.set(["soon", 1n], { at: new Set([1n]) }, { expireIn: 3_600_000 }));
    const { exitCode, stdout } = await project.run(["inspect", "get", '["soon", 1n]']);
    expect(stdout).toMatch(/^key +\["soon", 1n\]\nversionstamp +[0-9a-f]{20}\nsize +\d+ bytes\n/);
    expect(stdout).toMatch(/\nexpires +\d{4}-\d\d-\d\dT.*Z\n\n\{ at: Set\(1\) \{ 1n \} \}\n$/);
    expect(exitCode).toBe(0);
  });

  it("prints JSON", async () => {
    await fill([[["a", 1n], { n: 2n, at: new Date(0) }]]);
    const { stdout } = await project.run(["inspect", "get", '["a", {"$": "1n"}]', "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      key: ["a", { $: "1n" }],
      value: { n: { $: "2n" }, at: { $: "date:1970-01-01T00:00:00.000Z" } },
      versionstamp: expect.any(String),
    });
  });

  it("shows nothing that a terminal takes for a command", async () => {
    const error = new Error("\u001b]0;title\u0007\u009b2J");
    await fill([[["e"], { error, text: "\u001b[2J" }]]);
    const { stdout } = await project.run(["inspect", "get", '["e"]']);
    expect(stdout).toContain("title");
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  it("fails where there is nothing, or the key is none", async () => {
    const { exitCode, stderr } = await project.run(["inspect", "get", '["a", 1n]']);
    expect(stderr).toContain(
      'KW_ENTRY_MISSING: There is nothing under this key.\n  key: ["a", 1n]\n',
    );
    expect(exitCode).toBe(1);
    expect((await project.run(["inspect", "get", "[1n"])).exitCode).toBe(2);
    expect((await project.run(["inspect", "get"])).exitCode).toBe(2);
  });
});

describe("inspect export and import", () => {
  const importFile = (...args: string[]) =>
    project.run(["inspect", "import", "all.jsonl", ...args]);
  const exportFile = () => project.run(["inspect", "export", "--out", "all.jsonl"]);
  const empty = () =>
    withKv(async (kv) => {
      const atomic = kv.atomic();
      for await (const { key } of kv.list({ prefix: [] })) atomic.delete(key);
      await atomic.commit();
    });

  it("bring every entry back, with its expiry", { timeout: 30_000 }, async () => {
    await fill(letters);
    await fill(Array.from({ length: 1200 }, (_, i) => [["many", i], { i }]));
    await withKv((kv) => kv.set(["soon"], "x", { expireIn: 3_600_000 }));
    const before = await content();
    expect((await exportFile()).stderr).toBe("1,206 entries exported to all.jsonl.\n");
    const { stdout } = await project.run(["inspect", "export"]);
    expect(stdout).toBe(await project.read("all.jsonl"));
    expect((await project.run(["inspect", "export", '["b"]'])).stdout.split("\n")).toHaveLength(5);
    await empty();
    const first = await importFile();
    expect(first).toEqual({ exitCode: 0, stdout: "1,206 entries created.\n", stderr: "" });
    expect(await content()).toEqual(before);
    expect(before.at(-1)).toMatch(/expires$/);
    const again = await importFile("--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, unchanged: 1206, refused: 0 });
  });

  it("leave what is there, say so, and replace it only with --overwrite", async () => {
    await fill([
      [["a"], 1],
      [["b"], 2],
      [["c", 1n], 3],
    ]);
    await exportFile();
    await fill([
      [["b"], "changed"],
      [["c", 1n], "changed"],
      [["d"], "more"],
    ]);
    await withKv((kv) => kv.delete(["a"]));
    const before = await content();
    const dry = await importFile("--dry-run");
    expect(dry.stdout).toContain("1 entry would be created.\n2 entries would be refused");
    expect(dry.exitCode).toBe(3);
    expect(await content()).toEqual(before);

    const refused = await importFile();
    expect(refused.stdout).toContain('same keys:\n  ["b"]\n  ["c", 1n]\nIt stays');
    expect(refused.exitCode).toBe(3);
    const values = () =>
      withKv(async (kv) => {
        const all = await kv.getMany([["a"], ["b"], ["c", 1n], ["d"]]);
        return all.map(({ value }) => value);
      });
    expect(await values()).toEqual([1, "changed", "changed", "more"]);

    const replaced = await importFile("--overwrite");
    expect(replaced.stdout).toBe("0 entries created, 2 replaced, 1 there already.\n");
    expect(replaced.exitCode).toBe(0);
    expect(await values()).toEqual([1, 2, 3, "more"]);
  });

  it("leave out what has expired, and read a key that comes twice as two", async () => {
    const header = '{"keywright":"export","format":1}';
    await project.write({
      "all.jsonl": [
        header,
        '{"key":["old"],"value":1,"expireAt":1000}',
        '{"key":["a"],"value":1}',
        '{"key":["a"],"value":2}',
      ].join("\n"),
    });
    const { exitCode, stdout } = await importFile("--json");
    expect(JSON.parse(stdout)).toMatchObject({
      created: 1,
      expired: 1,
      refused: 1,
      refusedKeys: [["a"]],
    });
    expect(exitCode).toBe(3);
  });

  it.each([
    ["", "line: 1\n  reason: there is nothing in it"],
    ['{"key":["a"],"value":1}', "line: 1\n  reason: the first line is not"],
    ['{"keywright":"export","format":2}', "its format is 2, and this version reads format 1"],
    [
      '{"keywright":"export","format":1}\n\n{"key":["a"],"val',
      "line: 3\n  reason: it is not an object",
    ],
    ['{"keywright":"export","format":1}\n{"key":["a"],"encoded":"/w=="}', "line: 2"],
  ])("refuse the file %j", async (text, message) => {
    await project.write({ "all.jsonl": text });
    const { exitCode, stderr } = await importFile();
    expect(stderr).toContain("KW_IMPORT_LINE");
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
    expect(await content()).toEqual([]);
  });

  it("say which entry a database does not take, and go on behind it another time", async () => {
    const limited = config.replace('"/data")', '"/data", { limits: { valueBytes: 100 } })');
    await project.write({
      "keywright.config.ts": limited,
      "all.jsonl": ['{"keywright":"export","format":1}']
        .concat(
          [1, 2, 3].map((i) => `{"key":["k",${i}],"value":"${"x".repeat(i === 2 ? 200 : 1)}"}`),
        )
        .join("\n"),
    });
    const { exitCode, stderr } = await importFile();
    expect(stderr).toContain(
      'KW_IMPORT_REFUSED: The database does not take an entry.\n  line: 3\n  key: ["k", 2]',
    );
    expect(stderr).toContain("KW_LIMIT_EXCEEDED");
    expect(exitCode).toBe(1);
    expect(await content()).toHaveLength(1);
  });

  it("name a file that cannot be read or written, and leave nothing behind", async () => {
    const missing = await importFile();
    expect(missing.stderr).toContain(
      "KW_FILE_FAILED: A file could not be read or written.\n  path: all.jsonl",
    );
    expect(missing.exitCode).toBe(1);
    await project.write({ "folder/x": "" });
    const { exitCode, stderr } = await project.run(["inspect", "export", "--out", "folder"]);
    expect(stderr).toContain("KW_FILE_FAILED");
    expect(exitCode).toBe(1);
    expect((await readdir(project.folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("stop at Ctrl-C, and go on when they are run again", { timeout: 30_000 }, async () => {
    await fill(Array.from({ length: 1500 }, (_, i) => [["many", i], { i }]));
    const before = await content();
    await exportFile();
    await empty();
    const text = await project.read("all.jsonl");
    const child = spawn(process.execPath, [command, "inspect", "import"], {
      cwd: project.folder,
      env: { ...process.env, SAYS_OPEN: "open" },
    });
    child.stdin.on("error", () => undefined);
    // All but the end: it waits for more when it is stopped.
    child.stdin.write(text.slice(0, -10));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    await once(child.stderr, "data");
    child.kill("SIGINT");
    const [exitCode] = await once(child, "close");
    expect(stderr).toMatch(/^open\nStopping after the batch in hand/);
    expect(stdout).toContain("Stopped before the end: run the command again");
    expect(exitCode).toBe(1);
    expect((await importFile()).exitCode).toBe(0);
    expect(await content()).toEqual(before);
  });
});

describe("inspect stats", () => {
  beforeEach(async () => {
    const models = fileURLToPath(new URL("./fixtures/plain/models/city.ts", import.meta.url));
    await project.write({
      "keywright.config.ts": config.replace('"no-models/*.ts"', JSON.stringify(models)),
    });
  });

  it("counts all entries once, each where it belongs", async () => {
    await withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { cities: City } });
      expect(Object.keys(db)).toContain("cities");
    });
    await fill([
      [["loose"], 1],
      [["loose", 2], 2],
      [["cities", "one", "too many parts"], 3],
      [["__keywright", "lease"], 4],
      ...Array.from({ length: 25 }, (_, i) => [[i], i] as const),
    ]);
    const { exitCode, stdout } = await project.run(["inspect", "stats", "--json"]);
    expect(exitCode).toBe(0);
    const stats = JSON.parse(stdout);
    const entries = await content();
    const bytes = entries
      .map((entry) => entry.split(" ").slice(0, 2).join("").length / 2)
      .reduce((a, b) => a + b);
    expect(stats.total).toEqual({ keys: entries.length, bytes });
    const [city] = stats.models;
    expect(city).toMatchObject({
      model: "cities",
      declared: true,
      rows: { keys: 0 },
      catalog: { keys: 2 },
    });
    expect(city.databaseSchema).toBe(city.projectSchema);
    expect(stats.own.keys).toBe(1);
    expect(stats.others).toHaveLength(20);
    expect(stats.others).toContainEqual(expect.objectContaining({ prefix: ["cities"], keys: 1 }));
    expect(stats.others).toContainEqual(expect.objectContaining({ prefix: ["loose"], keys: 2 }));
    const parts = [
      city.rows,
      ...Object.values(city.indexes),
      city.counters,
      city.catalog,
      city.other,
    ];
    const sizes = [...parts, stats.own, ...stats.others, stats.rest] as {
      keys: number;
      bytes: number;
    }[];
    expect(sizes.reduce((sum, { keys }) => sum + keys, 0)).toBe(entries.length);
    expect(sizes.reduce((sum, size) => sum + size.bytes, 0)).toBe(bytes);
    expect(stats.migration.models[0].model).toBe("cities");
  });

  it("writes nothing, also where the database does not know the models", async () => {
    await fill([[["cities", "x"], {}]]);
    const before = await content();
    const { exitCode, stdout } = await project.run(["inspect", "stats"]);
    expect(stdout).toMatch(/^cities +1 .*not known to the database yet$/m);
    expect(exitCode).toBe(0);
    expect(await content()).toEqual(before);
  });
});
