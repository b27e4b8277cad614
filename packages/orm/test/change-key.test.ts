import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { migrate, migrationStatus, PrimaryKeyDiffersError } from "../src/index.js";
import { findDuplicates, formatPlan } from "../src/migrate.js";
import { Crash, crashAtEachCommit, crashingKv, interferingKv } from "./faulty-kv.js";
import {
  contentOf,
  expectFresh,
  fill,
  found,
  openByEmail,
  openById,
  readAll,
  type User,
  userOf,
} from "./key-change.js";
import { contextOf } from "./migration-run.js";

async function withKv(test: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    await test(kv);
  } finally {
    await kv.close();
  }
}

/** Reads a row by a program that may have been refused. A row that it does read must be right. */
async function expectRightOrRefused(
  db: Awaited<ReturnType<typeof openById>>,
  expected: User,
): Promise<boolean> {
  try {
    expect(await db.users.findUnique({ where: { id: expected.id } })).toEqual(expected);
    expect((await db.users.findMany({ where: { name: expected.name } })).items).toEqual([expected]);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(PrimaryKeyDiffersError);
    return false;
  }
}

describe("a change of the primary key", () => {
  it("stores the rows and their entries by the new key, and nothing by the old one", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 60);
      const db = await openByEmail(kv);
      const { status, plan } = await migrate(db, { accept: true });
      expect(status).toBe("done");
      expect(plan.steps.map(({ id }) => id)).toEqual(["users.email: change-primary-key"]);
      expect(await db.users.findUnique({ where: { email: "7@example.com" } })).toEqual(userOf(1));
      expect(await readAll(db)).toEqual(found(rows));
      await expectFresh(kv, rows);
      expect((await migrate(db)).plan.isEmpty).toBe(true);
    });
  });

  it("has to be accepted", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 3);
      const refused = await migrate(await openByEmail(kv));
      expect(refused.status).toBe("refused");
      // They can write until the change ends, and not even read afterwards.
      expect(formatPlan(refused.plan)).toContain("Programs with the old models cannot write");
      expect(await readAll(await openById(kv))).toEqual(found(rows));
    });
  });

  it("is not seen by a program that reads at the moment of the switch", async () => {
    let reads = 0;
    await crashAtEachCommit(async (at) => {
      let hasCrashed = false;
      await withKv(async (kv) => {
        const rows = await fill(kv, 3);
        const [byId, byEmail] = [await openById(kv), await openByEmail(kv)];
        const { catalog } = contextOf(byId, "users");
        // The program has read the catalog just before the switch.
        const dying = interferingKv(crashingKv(kv, at, "after"), async () => {
          const { value } = await kv.get<{ place?: string }>(["__keywright", "catalog", "users"]);
          if (value?.place === undefined) await catalog.reload();
        });
        const crashing = await openByEmail(dying);
        await migrate(crashing, { accept: true }).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
          hasCrashed = true;
        });
        const changed = { ...userOf(1), name: "changed" };
        const where = { email: changed.email };
        const isMoved = await byEmail.users.update({ where, data: { name: "changed" } }).then(
          () => true,
          () => false,
        );
        const expected = isMoved ? changed : (rows[1] ?? changed);
        if ((await expectRightOrRefused(byId, expected)) && isMoved) reads++;
      });
      return hasCrashed;
    });
    expect(reads).toBeGreaterThan(0);
  });

  it("resumes after a crash after any commit", async () => {
    const commits = await crashAtEachCommit(async (at) => {
      let hasCrashed = false;
      await withKv(async (kv) => {
        const rows = await fill(kv, 12);
        const crashing = await openByEmail(crashingKv(kv, at, "after"));
        try {
          await migrate(crashing, { accept: true });
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          hasCrashed = true;
        }
        const [byId, byEmail] = [await openById(kv), await openByEmail(kv)];
        const created = userOf(50);
        const isMoved = await byEmail.users.create({ data: created }).then(
          () => true,
          async (error: unknown) => {
            expect(error).toBeInstanceOf(PrimaryKeyDiffersError);
            await byId.users.create({ data: created });
            return false;
          },
        );
        const expected = [...rows.slice(1), created];
        if (isMoved) await byEmail.users.delete({ where: { email: rows[0]?.email ?? "" } });
        else await byId.users.delete({ where: { id: "u0" } });
        expect(await readAll(isMoved ? byEmail : byId)).toEqual(found(expected));
        await expect(readAll(isMoved ? byId : byEmail)).rejects.toThrow(PrimaryKeyDiffersError);
        expect((await migrate(byEmail, { accept: true })).status).toBe("done");
        await expectFresh(kv, expected);
      });
      return hasCrashed;
    });
    expect(commits).toBeGreaterThan(15);
  });

  it("waits for rows that have the same value of the new key", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 6);
      const byId = await openById(kv);
      await byId.users.update({ where: { id: "u3" }, data: { email: "7@example.com" } });
      const byEmail = await openByEmail(kv);
      const { status, indexes } = await migrate(byEmail, { accept: true });
      expect(status).toBe("key-unchanged");
      const { items } = await findDuplicates(byEmail, {
        model: "users",
        index: "primaryKey (email)",
      });
      expect(items).toEqual([{ value: ["7@example.com"], ids: ["u1", "u3"] }]);
      const { models } = await migrationStatus(byEmail);
      expect(models[0]?.indexes["primaryKey (email)"]).toMatchObject({ duplicates: 1 });
      expect(indexes).toMatchObject([
        { index: "primaryKey (email)", state: "unique-pending", duplicateCount: 1 },
      ]);
      await expect(readAll(byEmail)).rejects.toThrow(PrimaryKeyDiffersError);
      await expect(
        byId.users.create({ data: { ...userOf(9), email: "7@example.com" } }),
      ).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "primaryKey (email)" });
      await byId.users.update({ where: { id: "u1" }, data: { email: "other@example.com" } });
      const expected = rows.map((row) => {
        if (row.id === "u1") return { ...row, email: "other@example.com" };
        return row.id === "u3" ? { ...row, email: "7@example.com" } : row;
      });
      expect((await migrate(byEmail, { accept: true })).status).toBe("done");
      await expectFresh(kv, expected);
    });
  });

  it("is given up by a program with the old key", async () => {
    await withKv(async (kv) => {
      await fill(kv, 6);
      const byId = await openById(kv);
      await byId.users.update({ where: { id: "u3" }, data: { email: "7@example.com" } });
      const before = await contentOf(kv);
      const { status } = await migrate(await openByEmail(kv), { accept: true });
      expect(status).toBe("key-unchanged");
      expect((await migrate(byId)).status).toBe("refused");
      expect((await migrate(byId, { accept: true })).status).toBe("done");
      expect(await contentOf(kv)).toEqual(before);
      expect((await migrate(byId)).plan.isEmpty).toBe(true);
    });
  });

  it("goes back to the places of the old key", async () => {
    await withKv(async (kv) => {
      const rows = await fill(kv, 20);
      const places = async () => {
        const keys: unknown[] = [];
        for await (const { key } of kv.list({ prefix: [] })) keys.push(key);
        return keys.filter((key) => (key as unknown[])[0] !== "__keywright");
      };
      const before = await places();
      const [byId, byEmail] = [await openById(kv), await openByEmail(kv)];
      await migrate(byEmail, { accept: true });
      await byEmail.users.update({ where: { email: "7@example.com" }, data: { color: "blue" } });
      await byEmail.users.update({ where: { email: "7@example.com" }, data: { color: "green" } });
      expect((await migrate(byId, { accept: true })).status).toBe("done");
      expect(await places()).toEqual(before);
      expect(await readAll(byId)).toEqual(found(rows));
      await expectFresh(kv, rows, openById);
      await expect(readAll(byEmail)).rejects.toThrow(PrimaryKeyDiffersError);
    });
  });
});
