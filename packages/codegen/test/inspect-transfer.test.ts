import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  config,
  createInspectedProject,
  type InspectedProject,
  letters,
  many,
} from "./inspect-project.js";

/** A value of lists within lists, each with the length of 16 million elements. */
const tooLong = Buffer.from(`01${"dd01000000".repeat(200)}`, "hex").toString("base64");
let project: InspectedProject;

beforeEach(async () => {
  project = await createInspectedProject();
});

afterEach(async () => {
  await project.remove();
});

describe("inspect export and import", () => {
  const header = '{"keywright":"export","format":1}';
  const importFile = (...args: string[]) =>
    project.run(["inspect", "import", "all.jsonl", ...args]);
  const exportFile = () => project.run(["inspect", "export", "--out", "all.jsonl"]);

  it("bring every entry back, with its expiry", async () => {
    await project.fill(letters);
    await project.fill(many(1200));
    await project.withKv((kv) => kv.set(["soon"], "x", { expireIn: 3_600_000 }));
    const before = await project.content();
    expect((await exportFile()).stderr).toBe("1,206 entries exported to all.jsonl.\n");
    const { stdout } = await project.run(["inspect", "export"]);
    expect(stdout).toBe(await project.read("all.jsonl"));
    expect((await project.run(["inspect", "export", '["b"]'])).stdout.split("\n")).toHaveLength(6);
    await project.empty();
    const first = await importFile();
    expect(first).toEqual({ exitCode: 0, stdout: "1,206 entries created.\n", stderr: "" });
    expect(await project.content()).toEqual(before);
    expect(before.at(-1)).toMatch(/expires$/);
    const again = await importFile("--json");
    expect(JSON.parse(again.stdout).result).toMatchObject({
      created: 0,
      unchanged: 1206,
      refused: 0,
    });
  });

  it("leave what is there, say so, and replace it only with --overwrite", async () => {
    await project.fill([
      [["a"], 1],
      [["b"], 2],
      [["c", 1n], 3],
    ]);
    await exportFile();
    await project.fill([
      [["b"], "changed"],
      [["c", 1n], "changed"],
      [["d"], "more"],
    ]);
    await project.withKv((kv) => kv.delete(["a"]));
    const before = await project.content();
    const dry = await importFile("--dry-run");
    expect(dry.stdout).toContain("1 entry would be created.\n2 entries would be refused");
    expect(dry.exitCode).toBe(3);
    expect(await project.content()).toEqual(before);

    const refused = await importFile();
    expect(refused.stdout).toContain('same key:\n  ["b"]\n  ["c", 1n]\nThe stored');
    expect(refused.exitCode).toBe(3);
    const values = () =>
      project.withKv(async (kv) => {
        const all = await kv.getMany([["a"], ["b"], ["c", 1n], ["d"]]);
        return all.map(({ value }) => value);
      });
    expect(await values()).toEqual([1, "changed", "changed", "more"]);

    const replaced = await importFile("--overwrite");
    expect(replaced.stdout).toBe("0 entries created, 2 replaced, 1 unchanged.\n");
    expect(replaced.exitCode).toBe(0);
    expect(await values()).toEqual([1, 2, 3, "more"]);
  });

  it("leave out what has expired, and read a key that comes twice as two", async () => {
    await project.write({
      "all.jsonl": [
        header,
        '{"key":["old"],"value":1,"expireAt":1000}',
        '{"key":["a"],"value":1}',
        '{"key":["a"],"value":2}',
        '{"key":["a"],"value":1}',
        '{"keywright":"end","entries":4}',
      ].join("\n"),
    });
    await project.empty();
    const dry = await importFile("--dry-run", "--json");
    const { exitCode, stdout } = await importFile("--json");
    expect(JSON.parse(stdout).result).toMatchObject({
      created: 1,
      unchanged: 1,
      expired: 1,
      refused: 1,
      refusedKeys: [["a"]],
    });
    expect(exitCode).toBe(3);
    expect(dry).toEqual({ exitCode, stdout, stderr: "" });
  });

  it("say the same of a key that comes twice with --overwrite, dry or not", async () => {
    await project.write({
      "all.jsonl": [
        header,
        '{"key":["a"],"value":1}',
        '{"key":["a"],"value":2}',
        '{"key":["a"],"value":2,"expireAt":99999999999999}',
        '{"keywright":"end","entries":3}',
      ].join("\n"),
    });
    await project.fill([[["a"], 1]]);
    const dry = await importFile("--overwrite", "--dry-run", "--json");
    const { stdout } = await importFile("--overwrite", "--json");
    expect(JSON.parse(stdout).result).toMatchObject({ replaced: 2, unchanged: 1 });
    expect(dry.stdout).toBe(stdout);
  });

  it.each([
    ["without its last line", 3, undefined],
    ["in the middle", 1, 3],
  ])("say that an export is not whole: cut %s", async (_, entries, announced) => {
    await project.fill(many(3));
    await exportFile();
    const lines = (await project.read("all.jsonl")).trimEnd().split("\n");
    lines.splice(1 + entries, announced === undefined ? 1 : 2);
    await project.write({ "all.jsonl": `${lines.join("\n")}\n` });
    await project.empty();
    const dry = await importFile("--dry-run");
    expect(dry.stderr).toContain("KW_IMPORT_INCOMPLETE: the export is not complete (");
    expect(dry.exitCode).toBe(1);
    expect(await project.content()).toEqual([]);
    const { exitCode, stdout, stderr } = await importFile();
    expect(stdout).toMatch(new RegExp(`^${entries} (entry|entries) created\\.\n$`));
    expect(stderr).toContain(`entries read: ${entries}`);
    if (announced !== undefined) expect(stderr).toContain(`, expected: ${announced}`);
    expect(exitCode).toBe(1);
    expect(JSON.parse((await importFile("--json")).stdout).result).toMatchObject({ ending: "cut" });
  });

  it("take what there is of an export that is cut within a line, and say that it is", async () => {
    await project.fill([[["a", "é"], "é"], ...many(600)]);
    await exportFile();
    const before = await project.content();
    const whole = Buffer.from(await project.read("all.jsonl"));
    const lastLine = whole.indexOf('{"keywright":"end"');
    const firstCharacter = whole.indexOf("é") + 1;
    const cuts = [
      { bytes: lastLine + 10, entries: 601 },
      { bytes: lastLine - 1, entries: 601 },
      { bytes: lastLine - 3, entries: 600 },
      { bytes: firstCharacter, entries: 0 },
    ];
    for (const { bytes, entries } of cuts) {
      await writeFile(project.path("all.jsonl"), whole.subarray(0, bytes));
      await project.empty();
      const { exitCode, stdout, stderr } = await importFile("--json");
      const { result, error } = JSON.parse(stdout);
      expect(result).toMatchObject({ created: entries, entries, ending: "cut" });
      expect(error).toMatchObject({
        code: "KW_IMPORT_INCOMPLETE",
        message: `the export is not complete (the last line is missing, entries read: ${entries})`,
      });
      expect(stderr).toBe("");
      expect(exitCode).toBe(1);
      expect(await project.content()).toEqual(before.slice(0, entries));
    }
  });

  it("take what stands above a faulty line, and say how much", async () => {
    await project.fill(many(600));
    await exportFile();
    const lines = (await project.read("all.jsonl")).split("\n");
    await project.empty();
    for (const fault of ["oops", Buffer.of(0xff)]) {
      const text = [
        `${lines.slice(0, 501).join("\n")}\n`,
        fault,
        `\n${lines.slice(502).join("\n")}`,
      ];
      await writeFile(
        project.path("all.jsonl"),
        Buffer.concat(text.map((one) => Buffer.from(one))),
      );
      const { exitCode, stdout, stderr } = await importFile();
      expect(stdout).toMatch(/^(500 entries created|0 entries created, 500 unchanged)\.\n$/);
      expect(stderr).toContain("KW_IMPORT_LINE");
      expect(stderr).toContain("KW_IMPORT_LINE: line 502: ");
      expect(exitCode).toBe(1);
      expect(await project.content()).toHaveLength(500);
      expect(JSON.parse((await importFile("--json")).stdout)).toMatchObject({
        result: { unchanged: 500, ending: "fault" },
        error: { code: "KW_IMPORT_LINE", details: { line: 502 } },
      });
    }
  });

  it.each([
    ["", "line 1: this is not a line of an export: the input is empty"],
    ['{"key":["a"],"value":1}', "line 1: this is not a line of an export: the first line is not"],
    ['{"keywright":"export","format":2}', "its format is 2, but this version reads only format 1"],
    [
      '{"keywright":"export","format":1}\n\n{"key":["a"],"val\n',
      "line 3: this is not a line of an export: it is not a JSON object",
    ],
    ['{"keywright":"export","format":1}\n{"key":["a"],"encoded":"/w=="}', "line 2: "],
    [`{"keywright":"export","format":1}\n{"key":["a"],"encoded":"${tooLong}"}`, "line 2: "],
    [
      '{"keywright":"export","format":1}\n{"keywright":"end"}',
      "the last line does not contain the number",
    ],
    [
      '{"keywright":"export","format":1}\n{"keywright":"end","entries":0}\n{"key":["a"],"value":1}',
      "line 3: this is not a line of an export: the last line of the export is above it",
    ],
  ])("refuse the file %j", async (text, message) => {
    await project.write({ "all.jsonl": text });
    const { exitCode, stderr } = await importFile();
    expect(stderr).toContain("KW_IMPORT_LINE");
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
    expect(await project.content()).toEqual([]);
  });

  it("say which entry a database does not take, and continue after it another time", async () => {
    const limited = config.replace('"/data")', '"/data", { limits: { valueBytes: 100 } })');
    await project.write({
      "keywright.config.ts": limited,
      "all.jsonl": [header]
        .concat(
          [1, 2, 3].map((i) => `{"key":["k",${i}],"value":"${"x".repeat(i === 2 ? 200 : 1)}"}`),
        )
        .join("\n"),
    });
    const { exitCode, stdout, stderr } = await importFile();
    expect(stdout).toBe("1 entry created.\n");
    expect(stderr).toContain(
      'KW_IMPORT_REFUSED: line 3: the database does not accept the entry ["k", 2];',
    );
    expect(stderr).toContain("KW_LIMIT_EXCEEDED");
    expect(exitCode).toBe(1);
    expect(await project.content()).toHaveLength(1);
  });
});
