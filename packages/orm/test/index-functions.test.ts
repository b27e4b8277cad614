import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { planMigration, recordSameFunctions, verifyIndexes } from "../src/migrate.js";

type Normalize = "lowercase" | ((email: string) => string);

/** The same program, as different builds print it. */
const modelWith = (normalize: Normalize, version?: number) =>
  defineModel({
    name: "users",
    schema: z.object({ id: z.string(), email: z.string() }),
    primaryKey: "id",
    indexes: {
      byEmail: {
        key: "email",
        unique: true,
        normalize,
        ...(version !== undefined && { version }),
      },
    },
  });

const written = modelWith((email) => email.toLowerCase());
const minified = modelWith(
  new Function("return e=>e.toLowerCase()")() as (email: string) => string,
);
const otherwise = modelWith(
  new Function("return function(x){const t=x;if(t)return x.toLowerCase();return x}")() as Normalize,
);

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (model: ReturnType<typeof modelWith>) =>
  createDatabase({ kv, models: { users: model } });

const catalogKey = ["__keywright", "catalog", "users"];

/** Removes the code of the functions, of which an earlier release has stored only a hash. */
async function asEarlierRelease(): Promise<void> {
  const { value } = await kv.get<{ indexes: { byEmail: { code?: unknown } } }>(catalogKey);
  const { code: _, ...byEmail } = value!.indexes.byEmail;
  await kv.set(catalogKey, { ...value, indexes: { byEmail } });
}

const lookup = (id: string) => ({ where: { email: `${id.toUpperCase()}@EXAMPLE.com` } });

/** Writes and reads a row by the index. */
async function use(db: Awaited<ReturnType<typeof open>>, id: string): Promise<void> {
  const row = { id, email: `${id}@example.com` };
  await db.users.create({ data: row });
  expect(await db.users.findUnique(lookup(id))).toEqual(row);
}

describe("programs that are built in different ways", () => {
  it("have the same index, and the same as one that names the normalizer", async () => {
    await use(await open(written), "a");
    for (const [id, model] of Object.entries({ b: minified, c: modelWith("lowercase") })) {
      const db = await open(model);
      expect((await planMigration(db)).isEmpty).toBe(true);
      await use(db, id);
    }
    await use(await open(written), "d");
    expect(await verifyIndexes(await open(minified))).toMatchObject({ status: "clean" });
  });

  it("have the same index if it was built for a normalizer that is named", async () => {
    await use(await open(modelWith("lowercase")), "a");
    const db = await open(minified);
    expect((await planMigration(db)).isEmpty).toBe(true);
    await use(db, "b");
  });

  it("may differ in an index of an earlier release, until one of them has used it", async () => {
    await use(await open(written), "a");
    await asEarlierRelease();
    await expect(use(await open(otherwise), "b")).rejects.toMatchObject({
      code: "KW_INDEX_CHANGED",
    });
    const named = await open(modelWith("lowercase"));
    expect((await planMigration(named)).isEmpty).toBe(true);
    await asEarlierRelease();
    // The program whose functions have the stored hash makes their code known.
    await use(await open(written), "c");
    await use(await open(minified), "d");
    await asEarlierRelease();
    await use(named, "e");
    await use(await open(minified), "f");
  });

  it("share an index of an earlier release after the command has found nothing to do", async () => {
    await use(await open(written), "a");
    await asEarlierRelease();
    const db = await open(written);
    expect(await recordSameFunctions(db, [])).toEqual([]);
    await use(await open(minified), "b");
  });
});

describe("functions with another code", () => {
  it("are refused by an error that contains both, and says what to do", async () => {
    await use(await open(written), "a");
    const db = await open(otherwise);
    const error = await use(db, "b").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "KW_INDEX_CHANGED",
      differences: [
        "its normalize of email was a => a.toLowerCase() and is a => a && a.toLowerCase()",
      ],
    });
    expect(String(error)).toContain("give the index a version");
    expect(String(error)).toContain("--same-functions");
    const [step] = (await planMigration(db)).steps;
    expect(step).toMatchObject({ kind: "rebuild-index", onlyFunctions: true });
    expect(step?.reason).toContain("was a => a.toLowerCase() and is a => a && a.toLowerCase()");
  });

  it("share the entries once a user says that they return the same", async () => {
    await use(await open(written), "a");
    const db = await open(otherwise);
    expect(await recordSameFunctions(db, ["users.byName"])).toEqual([]);
    expect(await recordSameFunctions(db, true)).toEqual(["users.byEmail"]);
    expect((await planMigration(db)).isEmpty).toBe(true);
    await use(db, "b");
    await use(await open(minified), "c");
    const versioned = await open(modelWith("lowercase", 1));
    expect((await planMigration(versioned)).isEmpty).toBe(true);
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
  });

  it("keep the entries when an index gets a version, and rebuild them when it changes", async () => {
    await use(await open(written), "a");
    const lower = (email: string) => email.toLowerCase();
    const versioned = await open(modelWith(lower, 1));
    expect((await planMigration(versioned)).steps[0]?.reason).toContain(
      'its version was "none" and is "1"',
    );
    await recordSameFunctions(versioned, ["users.byEmail"]);
    await use(versioned, "b");
    const next = await open(modelWith(lower, 2));
    expect((await planMigration(next)).steps).toMatchObject([{ kind: "rebuild-index" }]);
    expect(await migrate(next, { accept: true })).toMatchObject({ status: "done" });
    await use(next, "c");
    await expect(use(await open(otherwise), "d")).rejects.toMatchObject({
      code: "KW_INDEX_CHANGED",
    });
  });
});

it("a bound function is refused without a version, because all of them have the same source", () => {
  const cut = (length: number, email: string) => email.slice(0, length);
  expect(() => modelWith(cut.bind(null, 1))).toThrowError(
    /indexes\.byEmail\.normalize .*bind\(\)/s,
  );
  expect(modelWith(cut.bind(null, 1), 1).name).toBe("users");
});
