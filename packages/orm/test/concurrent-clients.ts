import type { Kv, KvKey } from "@keywright/core";
import { expect } from "vitest";
import { type AnyRepository, type AnyThings, askFor, type Step } from "./model-session.js";
import type { RandomModel } from "./random-model.js";
import { idOf, primaryKeyOfRow } from "./verify-indexes.js";

type AnyRow = Readonly<Record<string, unknown>>;

/** A row as a call returned it; without a versionstamp where it was of a transaction. */
interface Applied {
  readonly row: AnyRow;
  readonly versionstamp?: string;
}

type Versioned = { readonly row: AnyRow; readonly versionstamp: string };
type VersionedMany = {
  readonly results: readonly ({ readonly ok: boolean } & { readonly row: Versioned })[];
};

const expectedCodes = new Set([
  "KW_UNIQUE_CONSTRAINT",
  "KW_ROW_NOT_FOUND",
  "KW_ROW_INVALID",
  "KW_LIMIT_EXCEEDED",
]);

/** What clients that write at the same time were told of their writes. */
export class ToldResults {
  readonly #random: RandomModel;
  readonly #applied = new Map<string, Applied[]>();

  constructor(random: RandomModel) {
    this.#random = random;
  }

  /** Makes the calls of a script, one after another, whatever others do. */
  async run(db: AnyThings, steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      try {
        if (step.type !== "transaction") {
          for (const one of await this.#call(db.things, step)) this.#note(one);
          continue;
        }
        let within: Versioned[] = [];
        await db.transaction(async (tx) => {
          within = [];
          for (const inner of step.steps) within.push(...(await this.#call(tx.things, inner)));
          if (step.fails) throw Object.assign(new Error("stop"), { code: "KW_ROW_INVALID" });
        });
        for (const { row } of within) this.#note({ row });
      } catch (error) {
        if (!expectedCodes.has((error as { code: string }).code)) throw error;
      }
    }
  }

  /**
   * Checks that each stored row is what its last writer was told, and that no later write of it is
   * missing.
   */
  async expectIn(kv: Kv): Promise<void> {
    for await (const { key, value, versionstamp } of kv.list({
      prefix: [this.#random.model.name],
    })) {
      const applied = this.#applied.get(idOf(key.slice(1) as KvKey)) ?? [];
      const own = applied.find((one) => one.versionstamp === versionstamp);
      if (own !== undefined) expect(value).toEqual(own.row);
      else {
        const inTransactions = applied.filter((one) => one.versionstamp === undefined);
        expect(inTransactions.map(({ row }) => row)).toContainEqual(value);
      }
      const later = applied.filter((one) => (one.versionstamp ?? "") > versionstamp);
      expect(later).toEqual([]);
    }
  }

  #note(applied: Applied): void {
    const id = idOf(primaryKeyOfRow(this.#random.model, applied.row));
    this.#applied.set(id, [...(this.#applied.get(id) ?? []), applied]);
  }

  async #call(things: AnyRepository, step: Step): Promise<Versioned[]> {
    const withVersionstamp = true;
    const one = async (call: Promise<unknown>) => [(await call) as Versioned];
    const many = async (call: Promise<unknown>) =>
      ((await call) as VersionedMany).results.filter(({ ok }) => ok).map(({ row }) => row);
    switch (step.type) {
      case "create":
        return await one(things.create({ data: step.input, withVersionstamp }));
      case "createMany":
        return await many(
          things.createMany({ data: step.inputs, atomic: step.atomic, withVersionstamp }),
        );
      case "update": {
        const where = this.#keyOf(step.key);
        return await one(things.update({ where, data: step.patch.data, withVersionstamp }));
      }
      case "upsert": {
        const where = this.#keyOf(step.input);
        const data = { create: step.input, update: step.patch.data };
        return await one(things.upsert({ where, ...data, withVersionstamp }));
      }
      case "delete":
        await things.delete({ where: this.#keyOf(step.key) });
        return [];
      case "updateMany": {
        const asked = askFor(this.#random, (await things.scan()).items, step.range);
        if (asked === undefined) return [];
        const { patch, atomic } = step;
        return await many(
          things.updateMany({ ...asked.query, data: patch.data, atomic, withVersionstamp }),
        );
      }
      case "deleteMany": {
        const asked = askFor(this.#random, (await things.scan()).items, step.range);
        if (asked !== undefined) await things.deleteMany({ ...asked.query, atomic: step.atomic });
        return [];
      }
      case "query": {
        const asked = askFor(this.#random, (await things.scan()).items, step.range);
        if (asked !== undefined) await things.findMany(asked.query);
        return [];
      }
      default:
        return [];
    }
  }

  #keyOf(row: AnyRow): AnyRow {
    return Object.fromEntries(this.#random.primaryKey.map((field) => [field, row[field]]));
  }
}
