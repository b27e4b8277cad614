import { expectTypeOf, it } from "vitest";
import type { Database } from "../src/index.js";
import type { filterModels } from "./filter-models.js";

declare const db: Database<typeof filterModels>;

/** The calls in it are only compiled. */
function compiled(_: () => unknown): void {}

it("takes conditions that indexes serve", () => {
  compiled(() => [
    // An index of the related rows finds the rows, in their order or collected.
    db.users.findMany({ where: { posts: { some: { status: "draft" } } } }),
    db.users.findMany({ where: { posts: { some: { rank: { gte: 3 } } } } }),
    db.users.findMany({ where: { posts: { some: {} } }, take: 10 }),
    db.users.findMany({ where: { badge: { is: { color: "red" } } } }),
    db.users.findMany({ where: { badge: { isNot: null } } }),
    db.posts.findMany({ where: { tags: { some: { id: { in: ["a", "b"] } } } } }),
    // The rows are tested one by one.
    db.users.findMany({ where: { country: "no", posts: { some: { status: "draft", rank: 3 } } } }),
    db.users.findMany({ where: { country: "no", posts: { none: { status: "draft" } } } }),
    db.users.findMany({ where: { posts: { none: {} } }, orderBy: { id: "asc" } }),
    db.posts.findMany({ where: { status: "draft", author: { isNot: { country: "no" } } } }),
    db.posts.findMany({ where: { status: "draft", editor: { is: null } } }),
    // Related rows of related rows.
    db.tags.findMany({
      where: { group: "a", posts: { some: { status: "live", author: { is: { country: "no" } } } } },
    }),
    db.users.count({ where: { posts: { some: { status: "draft" } } } }),
    db.users.exists({ where: { posts: { some: { status: "draft" } } } }),
    db.users.findFirst({ where: { posts: { some: { status: "draft" } } } }),
    db.users.watchMany({ where: { posts: { some: { status: "draft" } } } }),
    db.users.deleteMany({ where: { posts: { some: { status: "draft" } } } }),
    db.users.updateMany({ where: { posts: { some: { status: "draft" } } }, data: { name: "x" } }),
  ]);
  type Found = Awaited<ReturnType<typeof found>>;
  const found = () => db.users.findFirst({ where: { posts: { some: { status: "draft" } } } });
  expectTypeOf<Found>().toEqualTypeOf<{
    id: string;
    country: string;
    age: number;
    name: string;
  } | null>();
});

it("refuses conditions that no index serves", () => {
  compiled(() => [
    // @ts-expect-error no index of posts has kind
    db.users.findMany({ where: { posts: { some: { kind: "k" } } } }),
    // @ts-expect-error nor together with the author
    db.users.findMany({ where: { country: "no", posts: { some: { kind: "k" } } } }),
    // @ts-expect-error none finds no rows
    db.users.findMany({ where: { posts: { none: { status: "draft" } } } }),
    // @ts-expect-error nor does isNot
    db.posts.findMany({ where: { author: { isNot: { country: "no" } } } }),
    // @ts-expect-error the model's own fields need an index too
    db.users.findMany({ where: { name: "n", posts: { some: { status: "draft" } } } }),
    // @ts-expect-error users have no index of names
    db.posts.findMany({ where: { author: { is: { name: "n" } } } }),
    // @ts-expect-error nor is one that leads there from a tag
    db.tags.findMany({ where: { group: "a", posts: { some: { author: { is: { name: "n" } } } } } }),
    // @ts-expect-error the relation says which posts
    db.users.findMany({ where: { posts: { some: { authorId: "u1" } } } }),
    // @ts-expect-error one row has no some
    db.posts.findMany({ where: { author: { some: { country: "no" } } } }),
    // @ts-expect-error many rows have no is
    db.users.findMany({ where: { posts: { is: { status: "draft" } } } }),
    // @ts-expect-error many rows cannot be null
    db.users.findMany({ where: { posts: { some: null } } }),
    // @ts-expect-error posts have no such field
    db.users.findMany({ where: { posts: { some: { stats: "draft" } } } }),
    // @ts-expect-error not a status
    db.users.findMany({ where: { posts: { some: { status: "drafted" } } } }),
    // @ts-expect-error the key of one row is enough
    db.users.findUnique({ where: { id: "u1", posts: { some: {} } } }),
    // @ts-expect-error aggregates are over the model's own fields
    db.users.aggregate({ where: { posts: { some: {} } }, count: true }),
  ]);
});
