import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase, type Database } from "../src/index.js";
import { codeOf, random } from "./tenant-table.js";
import { models } from "./together-models.js";
import { notFound, PlainTenant, taken } from "./together-table.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

/** How many random calls are compared with plain arrays, in databases of up to 2,000 each. */
const operations = Number(process.env.KEYWRIGHT_TOGETHER_OPERATIONS ?? 150);
const batch = 2000;
const batches = Array.from({ length: Math.ceil(operations / batch) }, (_, i) => ({
  seed: Number(process.env.KEYWRIGHT_TOGETHER_SEED ?? 11) + i,
  calls: Math.min(batch, operations - i * batch),
}));

let kv: EmbeddedKv;
let db: Database<typeof models>;
const seen = new Set<string>();

beforeEach(async () => {
  kv = await openKv();
  seen.clear();
  const log = (what: string) => ({ data: { what, details: { create: {} } } });
  db = await createDatabase({
    kv,
    models,
    middleware: async ({ model, operation }, next) => {
      seen.add(`${model}.${operation}`);
      return await next();
    },
    hooks: {
      customers: {
        afterRead: (row) => ({ ...row, email: `${row.email}*` }),
        duringCreate: async ({ tenant, id }, { tx }) =>
          void (await tx.audit.create(log(`${tenant}: create ${id}`))),
        duringDelete: async ({ tenant, id }, { tx }) => {
          // Rows of the scope can be read: the row itself is marked by now.
          expect(await tx.customers.findUnique({ where: { tenant, id } })).toBe(null);
          await tx.audit.create(log(`${tenant}: delete ${id}`));
        },
      },
      orders: {
        duringDelete: async ({ tenant, id }, { tx }) =>
          void (await tx.audit.create(log(`${tenant}: delete ${id}`))),
      },
    },
  });
});
afterEach(() => kv.close());

/** Refuses a row of another tenant, and one that is not as rows are returned. */
function assertOwn(tenant: string, result: unknown): void {
  if (typeof result !== "object" || result === null || result instanceof Date) return;
  const row = result as Readonly<Record<string, unknown>>;
  if (row.tenant !== undefined) expect(row.tenant).toBe(tenant);
  if (row.email !== undefined) {
    expect(row.email).toMatch(/^e\d+\*$/);
    expect(row.label).toBe(`${row.id}:${row.email}`);
  }
  if (row.amount !== undefined && row.state !== undefined)
    expect(row.double).toBe(Number(row.amount) * 2);
  for (const value of Object.values(row)) assertOwn(tenant, value);
}

const scopeOf = (tenant: string) => db.scope({ tenant });
type Scoped = ReturnType<typeof scopeOf>;

/** The random values of one call. */
interface Values {
  readonly id: string;
  readonly otherId: string;
  readonly email: string;
  readonly score: number;
  readonly order: string;
  readonly otherOrder: string;
  readonly amount: number;
  readonly tag: string;
  readonly otherTag: string;
  readonly profile: string;
  readonly skip: number;
}
type Call = readonly [() => Promise<unknown>, () => unknown];

function rowCalls({ customers, orders, tags, transaction }: Scoped, plain: PlainTenant, v: Values) {
  const { id, email, score, order, amount, tag } = v;
  const where = { id };
  const far = { before: new Date(Date.now() + 60_000) };
  const many = [
    { id, email, score },
    { id: v.otherId, email, score },
    { id, email: "e9", score },
  ];
  const calls: Call[] = [
    [
      () => customers.create({ data: { id, email, score } }),
      () => plain.createCustomer(id, email, score),
    ],
    [
      () => customers.createMany({ data: many, skipDuplicates: true, atomic: amount === 1 }),
      () => {
        for (const each of many) {
          if (plain.state.customers.has(each.id) || plain.hasEmail(each.email)) continue;
          plain.createCustomer(each.id, each.email, each.score);
        }
      },
    ],
    [
      () => customers.update({ where, data: { email, score } }),
      () => {
        const row = plain.customer(id) ?? notFound();
        if (row.email !== email && plain.hasEmail(email)) taken();
        Object.assign(row, { email, score });
      },
    ],
    [() => customers.delete({ where, include: { orders: true } }), () => plain.deleteCustomer(id)],
    [
      () => customers.delete({ where: { email } }),
      () => {
        const row = plain.customers().find((each) => each.email === email) ?? notFound();
        plain.deleteCustomer(row.id);
      },
    ],
    [
      () => customers.restore({ where, include: { orders: true, tags: true } }),
      () => plain.restoreCustomer(id),
    ],
    [() => customers.purge({ where }), () => plain.purgeCustomer(id)],
    [
      () => orders.purge(far),
      () => {
        for (const each of plain.state.orders.values())
          if (each.isDeleted) plain.state.orders.delete(each.id);
      },
    ],
    [
      () => orders.create({ data: { id: order, amount, customerId: id } }),
      () => plain.createOrder(order, id, amount),
    ],
    [() => orders.delete({ where: { id: order } }), () => plain.deleteOrder(order)],
    [() => orders.restore({ where: { id: order } }), () => plain.restoreOrder(order)],
    [
      () => orders.update({ where: { id: order }, data: { state: "done", amount } }),
      () => {
        Object.assign(plain.order(order) ?? notFound(), { state: "done", amount });
      },
    ],
    [() => tags.create({ data: { name: tag } }), () => plain.createTag(tag)],
    [() => tags.delete({ where: { name: tag } }), () => plain.deleteTag(tag)],
    [() => tags.restore({ where: { name: tag } }), () => plain.restoreTag(tag)],
    [
      () =>
        customers.updateMany({
          where: { score: { gte: score }, orders: { some: { state: "open" } } },
          data: { score: { increment: 1 } },
          atomic: amount === 1,
        }),
      () => {
        for (const each of plain.customers()) {
          const isOpen = plain.ordersOf(each.id).some((one) => one.state === "open");
          if (each.score >= score && isOpen) each.score++;
        }
      },
    ],
    [
      () => customers.deleteMany({ where: { score, orders: { none: {} } }, atomic: amount === 1 }),
      () => {
        for (const each of plain.customers())
          if (each.score === score && plain.ordersOf(each.id).length === 0)
            plain.deleteCustomer(each.id);
      },
    ],
    [
      () => orders.deleteMany({ where: { state: "open", customer: { is: { score } } } }),
      () => {
        for (const each of plain.orders())
          if (each.state === "open" && plain.customer(each.customerId ?? "")?.score === score)
            plain.deleteOrder(each.id);
      },
    ],
    [
      () =>
        transaction(async (tx) => {
          const first = await tx.customers.delete({ where });
          await tx.customers.restore({ where });
          await tx.orders.create({ data: { id: order, amount, customerId: id } });
          return first;
        }),
      () => {
        plain.deleteCustomer(id);
        plain.restoreCustomer(id);
        plain.createOrder(order, id, amount);
      },
    ],
  ];
  return calls;
}

function nestedCalls({ customers, orders, profiles }: Scoped, plain: PlainTenant, v: Values) {
  const { id, email, score, order, otherOrder, amount, tag, otherTag, profile } = v;
  const where = { id };
  const existing = () => plain.customer(id) ?? notFound();
  const include = { orders: true, tags: true, profile: true } as const;
  const live = (key: string) => plain.order(key) ?? notFound();
  const disconnectProfiles = (kept?: string) => {
    for (const [key, owner] of plain.state.profiles)
      if (owner === id && key !== kept) plain.state.profiles.set(key, null);
  };
  const createProfile = () => {
    disconnectProfiles();
    if (plain.state.profiles.has(profile)) taken();
    plain.state.profiles.set(profile, id);
  };
  const calls: Call[] = [
    [
      () =>
        customers.create({
          data: {
            id,
            email,
            score,
            orders: { create: [{ id: order, amount }], connect: { id: otherOrder } },
          },
          include,
        }),
      () => {
        plain.createCustomer(id, email, score);
        live(otherOrder).customerId = id;
        plain.createOrder(order, id, amount);
      },
    ],
    [
      () => customers.update({ where, data: { orders: { set: [{ id: order }] } }, include }),
      () => {
        existing();
        live(order);
        for (const each of plain.ordersOf(id)) each.customerId = null;
        live(order).customerId = id;
      },
    ],
    [
      () =>
        customers.update({
          where,
          data: { orders: { disconnect: { id: order }, delete: { id: otherOrder } } },
          include,
        }),
      () => {
        existing();
        const own = plain.own(id, order);
        if (own !== undefined) own.customerId = null;
        if (plain.own(id, otherOrder) === undefined) notFound();
        plain.deleteOrder(otherOrder);
      },
    ],
    [
      () =>
        customers.update({
          where,
          data: {
            score,
            orders: {
              upsert: { where: { id: order }, create: { id: order, amount }, update: { amount } },
              connectOrCreate: { where: { id: otherOrder }, create: { id: otherOrder, amount } },
            },
          },
          include,
        }),
      () => {
        existing().score = score;
        const own = plain.own(id, order);
        if (own === undefined) plain.createOrder(order, id, amount);
        else own.amount = amount;
        const other = plain.order(otherOrder);
        if (other === undefined) plain.createOrder(otherOrder, id, amount);
        else other.customerId = id;
      },
    ],
    [
      () => customers.update({ where, data: { tags: { connect: { name: tag } } }, include }),
      () => {
        existing();
        plain.link(id, tag);
      },
    ],
    [
      () =>
        customers.upsert({
          where,
          create: { id, email, score, tags: { connect: { name: tag } } },
          update: {
            tags: {
              disconnect: { name: otherTag },
              connectOrCreate: { where: { name: tag }, create: { name: tag } },
            },
          },
          include,
        }),
      () => {
        if (plain.customer(id) === undefined) {
          plain.createCustomer(id, email, score);
          plain.link(id, tag);
          return;
        }
        if (plain.hasTag(otherTag)) plain.unlink(id, otherTag);
        if (!plain.hasTag(tag)) plain.createTag(tag);
        plain.link(id, tag);
      },
    ],
    [
      () =>
        customers.update({
          where,
          data: { tags: { set: [{ name: tag }, { name: otherTag }] } },
          include,
        }),
      () => {
        existing();
        for (const each of plain.tagsOf(id)) plain.unlink(id, each);
        plain.link(id, tag);
        plain.link(id, otherTag);
      },
    ],
    [
      () => customers.update({ where, data: { tags: { delete: { name: tag } } }, include }),
      () => {
        existing();
        if (!plain.hasTag(tag) || !plain.tagsOf(id).includes(tag)) notFound();
        plain.deleteTag(tag);
      },
    ],
    [
      () => customers.update({ where, data: { profile: { create: { id: profile } } }, include }),
      () => {
        existing();
        createProfile();
      },
    ],
    [
      () => customers.update({ where, data: { profile: { connect: { id: profile } } }, include }),
      () => {
        existing();
        if (!plain.state.profiles.has(profile)) notFound();
        disconnectProfiles(profile);
        plain.state.profiles.set(profile, id);
      },
    ],
    [
      () =>
        profiles.update({
          where: { id: profile },
          data: {
            customer: {
              connectOrCreate: { where: { email }, create: { id, email, score } },
            },
          },
          include: { customer: { include: { orders: true } } },
        }),
      () => {
        if (!plain.state.profiles.has(profile)) notFound();
        const found = plain.customers().find((each) => each.email === email);
        if (found === undefined) plain.createCustomer(id, email, score);
        plain.state.profiles.set(profile, found?.id ?? id);
      },
    ],
    [
      () =>
        orders.update({
          where: { id: order },
          data: { customer: { update: { score } } },
          include: { customer: true },
        }),
      () => {
        const row = plain.customer(live(order).customerId ?? "") ?? notFound();
        row.score = score;
      },
    ],
  ];
  return calls;
}

async function readAll(scope: Scoped, { id, email, score, order, skip, tag }: Values) {
  const { customers, orders, profiles, tags } = scope;
  const ids = (page: { items: readonly { id: string }[] }) => page.items.map((each) => each.id);
  const index = "byScore";
  const range = { score: { gte: score, lt: score + 3 } };
  const one = await customers.findUnique({
    where: { id },
    include: {
      orders: { include: { customer: true } },
      tags: true,
      profile: true,
      _count: { orders: true },
    },
  });
  const rows = [
    one,
    await customers.findMany({ where: { score } }),
    await orders.findUnique({ where: { id: order }, include: { customer: true } }),
    await profiles.scan({ include: { customer: { include: { tags: true } } } }),
    await customers.scan({ withDeleted: true, include: { orders: true } }),
  ];
  const values = [
    one && [
      one.orders.map((each) => each.id),
      one._count.orders,
      one.tags.map((each) => each.name),
      one.profile?.id ?? null,
    ],
    (await customers.findUnique({ where: { email } }))?.id ?? null,
    ids(await customers.findMany({ orderBy: { score: "asc" } })),
    ids(await customers.findMany({ orderBy: { score: "desc" }, skip, take: 2 })),
    ids(await customers.findMany({ where: range, skip, take: 2 })),
    await customers.rank({ index, where: { id } }),
    await customers.rank({ index, where: { id }, by: ["score"], order: "desc" }),
    await customers.count(),
    await customers.count({ where: range }),
    (await customers.aggregate({ where: range, sum: { score: true } })).sum.score ?? 0,
    await customers.groupBy({ by: ["score"], count: true }),
    await customers.distinct({ field: "score" }),
    ids(await customers.findMany({ where: { orders: { some: { state: "open" } } } })),
    ids(await customers.findMany({ where: { score, orders: { none: { state: "open" } } } })),
    ids(await customers.findMany({ where: { tags: { some: { name: tag } } } })),
    ids(await orders.findMany({ where: { state: "open", customer: { is: { score } } } })).sort(),
    await orders.count({ where: { state: "open", customer: { isNot: { score } } } }),
    (
      await profiles.findMany({ where: { customer: { is: null } }, orderBy: { id: "asc" } })
    ).items.map((each) => each.id),
    await orders.aggregate({ where: { customerId: id }, index: "byCustomer", count: true }),
    await orders.groupBy({ by: ["state"], count: true, max: { amount: true } }),
    await orders.count({ where: { amount: { gte: 1 } } }),
    (await tags.scan({ withDeleted: true })).items.length,
    (await customers.scan({ withDeleted: true })).items.length,
  ];
  return { rows, values };
}

function plainReads(plain: PlainTenant, { id, email, score, skip, tag }: Values): unknown[] {
  const customer = plain.customer(id);
  const all = plain.customers();
  const ids = (list: readonly { id: string }[]) => list.map((each) => each.id);
  const inRange = all.filter((each) => each.score >= score && each.score < score + 3);
  const same = all.filter((each) => each.score === customer?.score);
  const position = (list: readonly { id: string }[]) => {
    const at = ids(list).indexOf(id);
    return at < 0 ? null : at;
  };
  const sortedById = ids(all).sort();
  const open = plain.orders().filter((each) => each.state === "open");
  const scores = [...new Set(all.map((each) => each.score))];
  const profileOf =
    [...plain.state.profiles]
      .filter(([, owner]) => owner === id)
      .map(([key]) => key)
      .sort()[0] ?? null;
  const scoreOf = (customerId: string | null) => plain.customer(customerId ?? "")?.score;
  const count = plain.ordersOf(id).length;
  return [
    customer === undefined
      ? null
      : [ids(plain.ordersOf(id)), count, plain.tagsOf(id).sort(), profileOf],
    all.find((each) => each.email === email)?.id ?? null,
    ids(all),
    ids(all.toReversed().slice(skip, skip + 2)),
    ids(inRange.slice(skip, skip + 2)),
    position(all),
    position(same.toReversed()),
    all.length,
    inRange.length,
    inRange.reduce((sum, each) => sum + each.score, 0),
    scores.map((each) => ({ score: each, count: all.filter((one) => one.score === each).length })),
    scores,
    sortedById.filter((each) => open.some((one) => one.customerId === each)),
    ids(
      all.filter((each) => each.score === score && !open.some((one) => one.customerId === each.id)),
    ),
    sortedById.filter((each) => plain.tagsOf(each).includes(tag)),
    ids(open.filter((each) => scoreOf(each.customerId) === score)),
    open.filter((each) => scoreOf(each.customerId) !== score).length,
    [...plain.state.profiles]
      .filter(([, owner]) => plain.customer(owner ?? "") === undefined)
      .map(([key]) => key)
      .sort(),
    { count },
    (["done", "open"] as const).flatMap((state) => {
      const of = plain.orders().filter((each) => each.state === state);
      return of.length === 0
        ? []
        : [
            {
              state,
              count: of.length,
              max: { amount: Math.max(...of.map((each) => each.amount)) },
            },
          ];
    }),
    plain.orders().filter((each) => each.amount >= 1).length,
    plain.state.tags.size,
    plain.state.customers.size,
  ];
}

it.each(batches)(
  "all features of two tenants give what plain arrays give ($calls calls, seed $seed)",
  { timeout: 1_800_000 },
  async ({ seed, calls: count }) => {
    const next = random(seed);
    const pick = (limit: number) => Math.floor(next() * limit);
    const tenants = ["acme", "zeta"].map((tenant) => {
      return { tenant, plain: new PlainTenant(), scope: scopeOf(tenant) };
    });
    for (let i = 0; i < count; i++) {
      const { tenant, plain, scope } = tenants[pick(2)]!;
      const values: Values = {
        id: `c${pick(5)}`,
        otherId: `c${pick(5)}`,
        email: `e${pick(6)}`,
        score: pick(4),
        order: `o${pick(8)}`,
        otherOrder: `p${pick(8)}`,
        amount: pick(5),
        tag: `t${pick(3)}`,
        otherTag: `s${pick(3)}`,
        profile: `f${pick(4)}`,
        skip: pick(4),
      };
      if (pick(5) === 0) {
        const { rows, values: result } = await readAll(scope, values);
        assertOwn(tenant, rows);
        expect(result, `read ${i}`).toEqual(plainReads(plain, values));
        continue;
      }
      const [kind, list] =
        pick(2) === 0
          ? ["row", rowCalls(scope, plain, values)]
          : ["nested", nestedCalls(scope, plain, values)];
      const choice = pick(list.length);
      const [run, expected] = list[choice]!;
      const result = await run().catch(codeOf);
      assertOwn(tenant, result);
      const told = typeof result === "object" ? "ok" : result;
      const wanted = plain.run(expected);
      expect(told, `${kind} call ${choice}, operation ${i}, ${JSON.stringify(values)}`).toEqual(
        wanted,
      );
    }
    for (const model of Object.values(models)) await expectIndexesToMatch(kv, model);
    const audit = (await db.audit.scan({ include: { _count: { details: true } } })).items;
    for (const { tenant, plain } of tenants) {
      const own = audit.filter(({ what }) => what.startsWith(`${tenant}: `));
      expect(own.map(({ what }) => what.slice(tenant.length + 2)).sort()).toEqual(
        plain.state.audit.sort(),
      );
    }
    expect(audit.every((each) => each._count.details === 1)).toBe(true);
    for (const name of [
      "customers.restore",
      "customers.purge",
      "customers.rank",
      "customers.groupBy",
      "audit.create",
    ])
      expect(seen).toContain(name);
  },
);
