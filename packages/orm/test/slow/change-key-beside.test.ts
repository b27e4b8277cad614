import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../src/codegen.js";
import { migrate, PrimaryKeyDiffersError, UniqueConstraintError } from "../../src/index.js";
import { interferingKv } from "../faulty-kv.js";
import {
  expectFresh,
  fill,
  found,
  openByEmail,
  openById,
  readAll,
  type User,
  userOf,
} from "../key-change.js";

type ById = Awaited<ReturnType<typeof openById>>;
type ByEmail = Awaited<ReturnType<typeof openByEmail>>;

/**
 * Writes and reads as two programs do, one of each key, and compares with an array. Only one of the
 * two may use the rows at a time, and from the switch on it is the new one.
 */
class Rival {
  readonly rows: Map<string, User>;
  readonly #byId: ById;
  readonly #byEmail: ByEmail;
  readonly #random: () => number;
  isSwitched = false;
  steps = 0;
  #next = 1000;

  constructor(byId: ById, byEmail: ByEmail, rows: readonly User[], seed: number) {
    [this.#byId, this.#byEmail] = [byId, byEmail];
    this.rows = new Map(rows.map((row) => [row.id, row]));
    let state = seed;
    this.#random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  async step(): Promise<void> {
    this.steps++;
    await this.#write();
    if (this.steps % 4 === 0) await this.read();
  }

  /** Does something by the program that may, and expects the other to be refused. */
  async #with<T>(byId: () => Promise<T>, byEmail: () => Promise<T>): Promise<T> {
    if (!this.isSwitched) {
      try {
        return await byId();
      } catch (error) {
        if (!(error instanceof PrimaryKeyDiffersError)) throw error;
        this.isSwitched = true;
      }
    }
    return await byEmail();
  }

  async read(): Promise<void> {
    const all = await this.#with(
      () => readAll(this.#byId),
      () => readAll(this.#byEmail),
    );
    expect(all).toEqual(found([...this.rows.values()]));
    const row = this.#any();
    const { id, email } = row;
    const one = await this.#with(
      () => this.#byId.users.findUnique({ where: { id } }),
      () => this.#byEmail.users.findUnique({ where: { email } }),
    );
    expect(one).toEqual(row);
  }

  #any(): User {
    const all = [...this.rows.values()];
    return all[Math.floor(this.#random() * all.length)] as User;
  }

  async #write(): Promise<void> {
    const n = this.#next++;
    const row = this.#any();
    const { id, email } = row;
    const fresh: User = { ...userOf(n), email: `new${n}@example.com` };
    switch (Math.floor(this.#random() * 9)) {
      case 0:
        await this.#with(
          () => this.#byId.users.create({ data: fresh }),
          () => this.#byEmail.users.create({ data: fresh }),
        );
        this.rows.set(fresh.id, fresh);
        return;
      case 1: {
        const data = { color: fresh.color, age: n % 9, tags: ["even", `n${n}`] };
        await this.#with(
          () => this.#byId.users.update({ where: { id }, data }),
          () => this.#byEmail.users.update({ where: { email }, data }),
        );
        this.rows.set(id, { ...row, ...data });
        return;
      }
      case 2: {
        if (this.rows.size < 5) return;
        await this.#with(
          () => this.#byId.users.delete({ where: { id } }),
          () => this.#byEmail.users.delete({ where: { email } }),
        );
        this.rows.delete(id);
        return;
      }
      case 3: {
        const data = { name: `Renamed ${n}` };
        await this.#with(
          () => this.#byId.users.updateMany({ where: { name: row.name }, data }),
          () => this.#byEmail.users.updateMany({ where: { name: row.name }, data }),
        );
        this.rows.set(id, { ...row, ...data });
        return;
      }
      case 4: {
        const data = { color: "green" };
        await this.#with(
          () => this.#byId.transaction((tx) => tx.users.update({ where: { id }, data })),
          () => this.#byEmail.transaction((tx) => tx.users.update({ where: { email }, data })),
        );
        this.rows.set(id, { ...row, ...data });
        return;
      }
      case 5: {
        const data = { name: `Upserted ${n}` };
        await this.#with(
          () => this.#byId.users.upsert({ where: { id }, create: fresh, update: data }),
          () => this.#byEmail.users.upsert({ where: { email }, create: fresh, update: data }),
        );
        this.rows.set(id, { ...row, ...data });
        return;
      }
      case 6: {
        const taken = { ...fresh, name: row.name.toUpperCase() };
        const create = this.#with(
          () => this.#byId.users.create({ data: taken }),
          () => this.#byEmail.users.create({ data: taken }),
        );
        await expect(create).rejects.toThrow(UniqueConstraintError);
        return;
      }
      case 7: {
        const data = [fresh, { ...userOf(this.#next++), email: `also${n}@example.com` }];
        const isAtomic = n % 2 === 0;
        const createAll = async (on: Pick<ById, "users"> | Pick<ByEmail, "users">) => {
          const { results } = await on.users.createMany({ data, atomic: isAtomic });
          for (const result of results) if (!result.ok) throw result.error;
        };
        await this.#with(
          () => createAll(this.#byId),
          () => createAll(this.#byEmail),
        );
        for (const each of data) this.rows.set(each.id, each);
        return;
      }
      default: {
        // The field that is not the key of the program changes.
        const [otherEmail, otherId] = [`moved${n}@example.com`, `moved${n}`];
        const changed = await this.#with<Partial<User>>(
          async () => {
            const rows = rowsOf<User, User, Partial<User>>(this.#byId, "users");
            await rows.update({ where: { id }, data: { email: otherEmail } });
            return { email: otherEmail };
          },
          async () => {
            await this.#byEmail.users.update({ where: { email }, data: { id: otherId } });
            return { id: otherId };
          },
        );
        this.rows.delete(id);
        const moved = { ...row, ...changed };
        this.rows.set(moved.id, moved);
      }
    }
  }
}

describe("during a change of the primary key", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "every way of writing and reading is right (%i)",
    async (seed) => {
      const kv = await openKv();
      try {
        const rows = await fill(kv, 15);
        const rival = new Rival(await openById(kv), await openByEmail(kv), rows, seed);
        let isOver = false;
        const beside: Kv = interferingKv(kv, async () => {
          if (!isOver) await rival.step();
        });
        const result = await migrate(await openByEmail(beside), { accept: true });
        isOver = true;
        expect(result.status).toBe("done");
        expect(rival.steps).toBeGreaterThan(20);
        for (let i = 0; i < 20; i++) await rival.step();
        expect(rival.isSwitched).toBe(true);
        await expectFresh(kv, [...rival.rows.values()]);
      } finally {
        await kv.close();
      }
    },
  );
});
