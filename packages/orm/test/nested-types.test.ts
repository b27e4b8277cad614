// What is compiled here is not run: nothing is there to be awaited.
/* oxlint-disable typescript/no-floating-promises */
import { expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  type CannotWriteNested,
  type CreateData,
  type CreateInput,
  type Database,
  defineModel,
  hasMany,
  manyToMany,
  type UpdateData,
} from "../src/index.js";
import type { blogModels } from "./blog-models.js";

type Blog = typeof blogModels;

/** Calls that are type-checked and not made. */
function compiles(_calls: (db: Database<Blog>, where: { id: string }) => unknown): void {}

it("accepts operations through relations of all kinds, to several levels", () => {
  compiles((db, where) => {
    const post = { id: "p", title: "t" };
    db.users.create({
      data: {
        ...where,
        name: "",
        profile: { create: { id: "", text: "" } },
        posts: {
          create: [post, { ...post, tags: { create: { id: "x" }, connect: [where] } }],
          connectOrCreate: { where, create: { ...post, comments: { create: [{ id: "c" }] } } },
        },
        team: { create: { id: "b", name: "" } },
      },
    });
    db.posts.create({ data: { ...post, authorId: "a" } });
    db.posts.create({ data: { ...post, author: { connect: where } } });
    db.posts.create({ data: { ...post, authorId: "a", author: { connect: where } } });
    db.comments.create({ data: { id: "c", post: { create: { ...post, authorId: "a" } } } });
    db.comments.create({ data: { id: "c", postId: "p", author: { connect: where } } });
    db.users.update({
      where,
      data: {
        name: { set: "" },
        boss: { disconnect: true },
        profile: { upsert: { create: { id: "", text: "" }, update: { text: { set: "" } } } },
        comments: { set: [], disconnect: where },
        posts: {
          update: { where, data: { rank: { increment: 1 }, tags: { set: [where] } } },
          upsert: [{ where, create: post, update: {} }],
          delete: [where],
        },
      },
    });
    db.users.upsert({
      where,
      create: { ...where, name: "", posts: { create: post } },
      update: { team: { connect: where } },
    });
    const row: CreateInput<Blog["posts"]> = { ...post, authorId: "a" };
    const data: CreateData<Blog["posts"], Blog> = row;
    db.posts.create({ data });
    const changes: UpdateData<Blog["posts"], Blog> = { author: { connect: where } };
    db.posts.update({ where, data: changes });
  });
});

it("refuses a reference that is neither given nor written, and one that is filled in", () => {
  compiles((db, where) => {
    const user = { id: "a", name: "" };
    const post = { id: "p", title: "t" };
    // @ts-expect-error -- authorId or author is missing.
    db.posts.create({ data: post });
    // @ts-expect-error -- The relation is not given.
    db.posts.create({ data: { ...post, author: undefined } });
    // @ts-expect-error -- The post of a comment is missing.
    db.comments.create({ data: { id: "c", author: { connect: where } } });
    const filled = { id: "p", title: "" };
    // @ts-expect-error -- The row above determines the author.
    db.users.create({ data: { ...user, posts: { create: { ...filled, authorId: "a" } } } });
    // @ts-expect-error -- The row above is the author.
    db.users.create({ data: { ...user, posts: { create: { id: "", title: "", author: {} } } } });
    const authorId = "b";
    // @ts-expect-error -- The row above determines the author.
    db.users.update({ where, data: { posts: { update: { where, data: { authorId } } } } });
    // @ts-expect-error -- `createMany` takes no nested data.
    db.users.createMany({ data: [{ ...user, posts: { create: [] } }] });
    // @ts-expect-error -- Neither does `updateMany`.
    db.users.updateMany({ where: { bossId: "a" }, data: { posts: { create: [] } } });
  });
});

it("refuses operations that the relation does not permit, with a reason", () => {
  compiles((db, where) => {
    const user = { id: "a", name: "" };
    // @ts-expect-error -- A new row has no related rows to replace.
    db.users.create({ data: { ...user, posts: { set: [] } } });
    // @ts-expect-error -- authorId cannot be empty.
    db.users.update({ where, data: { posts: { set: [] } } });
    // @ts-expect-error -- authorId cannot be empty.
    db.users.update({ where, data: { posts: { disconnect: where } } });
    // @ts-expect-error -- authorId cannot be empty.
    db.posts.update({ where, data: { author: { delete: true } } });
    // @ts-expect-error -- The relation leads to one row.
    db.posts.update({ where, data: { author: { create: [user] } } });
    // @ts-expect-error -- The relation leads to one row.
    db.users.update({ where, data: { profile: { set: [] } } });
    // @ts-expect-error -- A title identifies no post.
    db.users.update({ where, data: { posts: { connect: { title: "" } } } });
    // @ts-expect-error -- There is no such relation.
    db.users.update({ where, data: { postz: { connect: where } } });
    // @ts-expect-error -- There is no such operation.
    db.users.update({ where, data: { posts: { creat: [] } } });
    // @ts-expect-error -- The title is a string.
    db.users.update({ where, data: { posts: { create: { id: "", title: 1 } } } });
    // @ts-expect-error -- The text is missing.
    db.users.update({ where, data: { profile: { create: { id: "" } } } });
  });
  type Posts = NonNullable<UpdateData<Blog["users"], Blog>["posts"]>;
  expectTypeOf<Posts["set"]>().toEqualTypeOf<
    | CannotWriteNested<"its field cannot be empty; connect the row to another one, or delete it">
    | undefined
  >();
});

it("refuses nested writes if the rows between need further fields", () => {
  const id = z.string();
  const Team = defineModel({
    name: "teams",
    schema: z.object({ id }),
    primaryKey: "id",
    relations: {
      people: manyToMany("people", { through: "members", from: "teamId", to: "personId" }),
      members: hasMany("members", "teamId"),
    },
  });
  const Person = defineModel({ name: "people", schema: z.object({ id }), primaryKey: "id" });
  const Member = defineModel({
    name: "members",
    schema: z.object({ teamId: id, personId: id, role: id }),
    primaryKey: ["teamId", "personId"],
    relations: { person: belongsTo("people", "personId"), team: belongsTo("teams", "teamId") },
  });
  const models = { teams: Team, people: Person, members: Member };
  const compilesWith = (_calls: (db: Database<typeof models>) => unknown): void => {};
  compilesWith((db) => {
    const members = { create: { role: "lead", person: { create: { id: "p" } } } };
    db.teams.create({ data: { id: "t", members } });
    // @ts-expect-error -- A member needs a role.
    db.teams.create({ data: { id: "t", people: { create: { id: "p" } } } });
  });
});
