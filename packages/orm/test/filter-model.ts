import fc from "fast-check";

/** A row of a plain array. */
export type PlainRow = Readonly<Record<string, unknown>> & { readonly id: string };

export interface PlainData {
  readonly users: readonly PlainRow[];
  readonly badges: readonly PlainRow[];
  readonly posts: readonly PlainRow[];
  readonly tags: readonly PlainRow[];
  readonly postTags: readonly PlainRow[];
  readonly links: readonly PlainRow[];
}

type Where = Readonly<Record<string, unknown>>;

interface PlainRelation {
  readonly to: keyof PlainData;
  readonly related: (data: PlainData, row: PlainRow) => readonly PlainRow[];
}

const through =
  (between: "postTags" | "links", from: string, to: string, table: "posts" | "tags") =>
  (data: PlainData, { id }: PlainRow) =>
    data[between]
      .filter((each) => each[from] === id)
      .flatMap((each) => data[table].filter((row) => row.id === each[to]));

const relations: Readonly<Record<string, Readonly<Record<string, PlainRelation>>>> = {
  users: {
    posts: {
      to: "posts",
      related: ({ posts }, { id }) => posts.filter(({ authorId }) => authorId === id),
    },
    badge: {
      to: "badges",
      related: ({ badges }, { id }) => badges.filter(({ userId }) => userId === id),
    },
  },
  posts: {
    author: {
      to: "users",
      related: ({ users }, { authorId }) => users.filter(({ id }) => id === authorId),
    },
    editor: {
      to: "users",
      related: ({ users }, { editorId }) => users.filter(({ id }) => id === editorId),
    },
    tags: { to: "tags", related: through("postTags", "postId", "tagId", "tags") },
    links: { to: "tags", related: through("links", "postId", "tagId", "tags") },
  },
  tags: {
    posts: { to: "posts", related: through("postTags", "tagId", "postId", "posts") },
  },
  badges: {},
};

/** Tests the conditions of a `where` on a row of a plain array. */
function meets(data: PlainData, table: keyof PlainData, row: PlainRow, where: Where): boolean {
  return Object.entries(where).every(([name, condition]) => {
    const relation = relations[table]?.[name];
    if (relation === undefined) return meetsField(row[name], condition);
    const related = relation.related(data, row);
    const any = (inner: unknown) =>
      related.some((each) => meets(data, relation.to, each, (inner ?? {}) as Where));
    return Object.entries(condition as Where).every(([operator, inner]) => {
      if (operator === "some") return any(inner);
      if (operator === "none") return !any(inner);
      return (operator === "is") === (inner === null ? !any({}) : any(inner));
    });
  });
}

function meetsField(value: unknown, condition: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  return Object.entries(condition).every(([operator, operand]) => {
    if (operator === "in") return (operand as unknown[]).includes(value);
    if (operator === "has") return (value as unknown[]).includes(operand);
    return operator === "gte"
      ? (value as number) >= (operand as number)
      : (value as number) < (operand as number);
  });
}

const ids = (prefix: string, count: number) =>
  fc.integer({ min: 0, max: count - 1 }).map((n) => `${prefix}${n}`);
const rows = <T>(prefix: string, max: number, row: fc.Arbitrary<T>) =>
  fc
    .array(row, { maxLength: max })
    .map((list) => list.map((each, i) => ({ id: `${prefix}${i}`, ...each })));

/** Data without references to rows that do not exist. */
export const plainData: fc.Arbitrary<PlainData> = fc
  .record({
    users: rows(
      "u",
      8,
      fc.record({ country: fc.constantFrom("no", "se"), age: fc.nat(3), name: fc.constant("n") }),
    ),
    tags: rows("t", 5, fc.record({ group: fc.constantFrom("a", "b") })),
    posts: rows(
      "p",
      24,
      fc.record(
        {
          authorId: ids("u", 8),
          editorId: ids("u", 8),
          status: fc.constantFrom("draft", "live"),
          rank: fc.nat(5),
          kind: fc.constant("k"),
          labels: fc.subarray(["x", "y", "z"]),
        },
        { requiredKeys: ["authorId", "status", "rank", "kind", "labels"] },
      ),
    ),
    badges: fc.uniqueArray(
      fc.record({ userId: ids("u", 8), color: fc.constantFrom("red", "blue") }),
      { maxLength: 5, selector: ({ userId }) => userId },
    ),
    postTags: fc.uniqueArray(fc.record({ postId: ids("p", 24), tagId: ids("t", 5) }), {
      maxLength: 30,
      selector: ({ postId, tagId }) => `${postId} ${tagId}`,
    }),
    links: rows("l", 20, fc.record({ postId: ids("p", 24), tagId: ids("t", 5), at: fc.nat(3) })),
  })
  .map(({ users, tags, posts, badges, postTags, links }) => {
    const has = (table: readonly { readonly id: string }[], id: unknown) =>
      id === undefined || table.some((row) => row.id === id);
    const kept = posts.filter((p) => has(users, p.authorId) && has(users, p.editorId));
    const isPair = (pair: { readonly postId: string; readonly tagId: string }) =>
      has(kept, pair.postId) && has(tags, pair.tagId);
    return {
      users,
      tags,
      posts: kept,
      badges: badges
        .filter(({ userId }) => has(users, userId))
        .map((badge) => ({ id: `b${badge.userId}`, ...badge })),
      postTags: postTags
        .filter(isPair)
        .map((pair) => ({ id: `${pair.postId}${pair.tagId}`, ...pair })),
      links: links.filter(isPair),
    };
  });

const rank = fc.nat(5).map((n) => ({ gte: n }));
const postWhere: fc.Arbitrary<Where> = fc.oneof(
  fc.constant({}),
  fc.record({ status: fc.constantFrom("draft", "live") }),
  fc.record({ status: fc.constantFrom({ in: ["draft", "live"] }, "live"), rank }),
  fc.record({ rank }),
  fc.record({ labels: fc.constantFrom("x", "y").map((has) => ({ has })) }),
);
const userWhere: fc.Arbitrary<Where> = fc.oneof(
  fc.record({ country: fc.constantFrom("no", "se") }),
  fc.record({ country: fc.constant("no"), age: fc.nat(3).map((lt) => ({ lt })) }),
  fc.record({ id: ids("u", 8) }),
  fc.record({ age: fc.subarray([0, 1, 2, 3]).map((list) => ({ in: list })) }),
);
const tagWhere: fc.Arbitrary<Where> = fc.oneof(
  fc.constant({}),
  fc.record({ group: fc.constantFrom("a", "b") }),
  fc.record({ id: ids("t", 5) }),
  fc.record({ id: fc.subarray(["t0", "t1", "t2"]).map((list) => ({ in: list })) }),
);
const badgeWhere: fc.Arbitrary<Where> = fc.oneof(
  fc.constant({}),
  fc.record({ color: fc.constantFrom("red", "blue") }),
);

const many = (where: fc.Arbitrary<Where>) =>
  fc.oneof(fc.record({ some: where }), fc.record({ none: where }));
const one = (where: fc.Arbitrary<Where>) =>
  fc.oneof(
    fc.record({ is: fc.option(where, { freq: 4 }) }),
    fc.record({ isNot: fc.option(where, { freq: 4 }) }),
  );
const some = (conditions: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(conditions, { requiredKeys: [] });

/** Conditions on related rows, also of related rows. */
const filters: Readonly<Record<"users" | "posts" | "tags", fc.Arbitrary<Where>>> = {
  users: some({
    posts: many(fc.oneof(postWhere, some({ tags: many(tagWhere), editor: one(userWhere) }))),
    badge: one(badgeWhere),
  }),
  posts: some({
    author: one(fc.oneof(userWhere, some({ badge: one(badgeWhere) }))),
    editor: one(userWhere),
    tags: many(tagWhere),
    links: many(tagWhere),
  }),
  tags: some({ posts: many(fc.oneof(postWhere, some({ author: one(userWhere) }))) }),
};

interface Base {
  readonly where: Where;
  readonly orderBy?: Where;
  /** The fields by which the rows are sorted. */
  readonly sorted: readonly string[];
  readonly reverse?: boolean;
}

/** Conditions and orders on the fields of a model, with the order of the rows. */
const bases: Readonly<Record<keyof typeof filters, readonly Base[]>> = {
  users: [
    { where: {}, sorted: ["id"] },
    { where: {}, orderBy: { id: "asc" }, sorted: ["id"] },
    { where: {}, orderBy: { id: "desc" }, sorted: ["id"], reverse: true },
    { where: { country: "no" }, sorted: ["age", "id"] },
    { where: {}, orderBy: { age: "desc" }, sorted: ["age", "id"], reverse: true },
  ],
  posts: [
    { where: {}, sorted: ["id"] },
    { where: {}, orderBy: { id: "desc" }, sorted: ["id"], reverse: true },
    { where: { status: "draft" }, sorted: ["authorId", "id"] },
    { where: { id: { in: ["p3", "p1", "p7"] } }, sorted: ["id"] },
  ],
  tags: [
    { where: {}, sorted: ["id"] },
    { where: { group: "a" }, sorted: ["id"] },
  ],
};

export interface PlainQuery extends Base {
  readonly table: keyof typeof filters;
  readonly take: number;
}

/** Queries with conditions on related rows. */
export const plainQuery: fc.Arbitrary<PlainQuery> = fc
  .constantFrom("users", "posts", "tags")
  .chain((table) =>
    fc
      .record({
        base: fc.constantFrom(...bases[table as keyof typeof filters]),
        related: filters[table as keyof typeof filters],
        take: fc.integer({ min: 1, max: 5 }),
      })
      .map(({ base, related, take }) => ({
        ...base,
        table: table as keyof typeof filters,
        where: { ...base.where, ...related },
        take,
      })),
  );

/** Returns the ids of the rows of a query, in its order. */
export function plainResult(data: PlainData, query: PlainQuery): string[] {
  const { table, where, sorted, reverse = false } = query;
  const found = data[table].filter((row) => meets(data, table, row, where));
  const compare = (a: PlainRow, b: PlainRow) => {
    for (const field of sorted) {
      const [left, right] = [a[field] as string, b[field] as string];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
  const ordered = [...found].sort(compare);
  return (reverse ? ordered.reverse() : ordered).map(({ id }) => id);
}
