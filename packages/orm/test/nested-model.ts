import * as z from "zod";
import { belongsTo, defineModel, hasMany, hasOne, manyToMany } from "../src/index.js";

const id = z.string();
const empty = z.string().nullable().default(null);

const User = defineModel({
  name: "users",
  schema: z.object({ id, name: z.string(), bossId: empty }),
  primaryKey: "id",
  count: true,
  indexes: { byBoss: { key: "bossId", count: true } },
  relations: {
    boss: belongsTo("users", "bossId", { onDelete: "setNull" }),
    posts: hasMany("posts", "authorId"),
    profile: hasOne("profiles", "userId"),
    team: hasMany("users", "bossId"),
  },
});
const Profile = defineModel({
  name: "profiles",
  schema: z.object({ id, userId: empty }),
  primaryKey: "id",
  indexes: { byUser: { key: "userId", unique: true } },
  relations: { user: belongsTo("users", "userId", { onDelete: "setNull" }) },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id, authorId: empty, title: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" }, byTitle: { key: "title", unique: true } },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "setNull" }),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});
const Tag = defineModel({
  name: "tags",
  schema: z.object({ id }),
  primaryKey: "id",
  relations: { posts: manyToMany("posts", { through: "post_tags", from: "tagId", to: "postId" }) },
});
const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: id, tagId: id }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId", { onDelete: "cascade" }),
  },
});

/** Models with relations of all kinds, whose references can all be empty. */
export const nestedModels = {
  users: User,
  profiles: Profile,
  posts: Post,
  tags: Tag,
  postTags: PostTag,
};

export type Data = Readonly<Record<string, unknown>>;
type PlainRow = Record<string, unknown> & { id: string };
export type ModelName = "users" | "profiles" | "posts" | "tags";

type Relation =
  | { readonly kind: "to" | "many" | "one"; readonly model: ModelName; readonly field: string }
  | { readonly kind: "links"; readonly model: ModelName; readonly isPost: boolean };

/** The relations in the order in which they are defined. */
export const relations: Readonly<Record<ModelName, Readonly<Record<string, Relation>>>> = {
  users: {
    boss: { kind: "to", model: "users", field: "bossId" },
    posts: { kind: "many", model: "posts", field: "authorId" },
    profile: { kind: "one", model: "profiles", field: "userId" },
    team: { kind: "many", model: "users", field: "bossId" },
  },
  profiles: { user: { kind: "to", model: "users", field: "userId" } },
  posts: {
    author: { kind: "to", model: "users", field: "authorId" },
    tags: { kind: "links", model: "tags", isPost: true },
  },
  tags: { posts: { kind: "links", model: "posts", isPost: false } },
};

const unique: Readonly<Record<ModelName, string | undefined>> = {
  users: undefined,
  profiles: "userId",
  posts: "title",
  tags: undefined,
};

/** The operand of any operation, of which only some properties are there. */
type Operand = Data & {
  readonly id: string;
  readonly where: { readonly id: string };
  readonly create: Data;
  readonly update: Data;
  readonly data: Data;
};

export class Refused extends Error {}

/** Plain maps of rows with the nested writes that the ORM should have. A write that throws is lost. */
export class PlainDatabase {
  rows: Record<ModelName, Map<string, PlainRow>> = {
    users: new Map(),
    profiles: new Map(),
    posts: new Map(),
    tags: new Map(),
  };
  /** `post/tag`. */
  links = new Set<string>();

  copy(): PlainDatabase {
    const copy = new PlainDatabase();
    copy.rows = structuredClone(this.rows);
    copy.links = new Set(this.links);
    return copy;
  }

  create(model: ModelName, data: Data, reference: Data = {}): PlainRow {
    const row: Data = { ...this.#fields(model, data), ...reference };
    const fields = { ...row, ...this.#targets(model, data, undefined) };
    const created = { ...defaults[model], ...fields } as PlainRow;
    if (this.rows[model].has(created.id)) throw new Refused("taken");
    this.#put(model, created);
    this.#others(model, data, created.id);
    return created;
  }

  update(model: ModelName, id: string, data: Data): void {
    const before = this.#get(model, id);
    const removed: [ModelName, string][] = [];
    const changes = {
      ...this.#fields(model, data),
      ...this.#targets(model, data, before, removed),
    };
    if (Object.keys(changes).length > 0) this.#put(model, { ...this.#get(model, id), ...changes });
    for (const [target, key] of removed) this.delete(target, key);
    this.#others(model, data, id);
  }

  upsert(model: ModelName, id: string, create: Data, update: Data): void {
    if (this.rows[model].has(id)) this.update(model, id, update);
    else this.create(model, create);
  }

  delete(model: ModelName, id: string): void {
    this.#get(model, id);
    this.rows[model].delete(id);
    for (const link of this.links) {
      const [post, tag] = link.split("/");
      if ((model === "posts" && post === id) || (model === "tags" && tag === id)) {
        this.links.delete(link);
      }
    }
    if (model !== "users") return;
    for (const [other, field] of references) {
      for (const row of this.rows[other].values()) if (row[field] === id) row[field] = null;
    }
  }

  #get(model: ModelName, id: unknown): PlainRow {
    const row = this.rows[model].get(id as string);
    if (row === undefined) throw new Refused(`${model} ${String(id)} is missing`);
    return row;
  }

  #put(model: ModelName, row: PlainRow): void {
    const field = unique[model];
    const value = field && row[field];
    for (const other of this.rows[model].values()) {
      if (field && value !== null && other.id !== row.id && other[field] === value) {
        throw new Refused("taken");
      }
    }
    const before = this.rows[model].get(row.id);
    for (const [other, reference] of references) {
      const target = row[reference];
      if (other !== model || target === null || target === before?.[reference]) continue;
      if (!(model === "users" && target === row.id)) this.#get("users", target);
    }
    this.rows[model].set(row.id, row);
  }

  #fields(model: ModelName, data: Data): Data {
    return Object.fromEntries(Object.entries(data).filter(([name]) => !(name in relations[model])));
  }

  #targets(
    model: ModelName,
    data: Data,
    before: PlainRow | undefined,
    removed: [ModelName, string][] = [],
  ): Data {
    const changes: Record<string, unknown> = {};
    for (const [name, relation] of Object.entries(relations[model])) {
      if (relation.kind !== "to" || data[name] === undefined) continue;
      const [first] = Object.entries(data[name] as object) as [string, Operand][];
      if (first === undefined) continue;
      const [operation, operand] = first;
      const { field, model: target } = relation;
      const current = before?.[field] as string | null | undefined;
      if (operation === "create") changes[field] = this.create(target, operand).id;
      if (operation === "connect") changes[field] = this.#get(target, operand.id).id;
      if (operation === "connectOrCreate") {
        const found = this.rows[target].get(operand.where.id);
        changes[field] = (found ?? this.create(target, operand.create)).id;
      }
      if (operation === "update") this.update(target, this.#get(target, current).id, operand);
      if (operation === "upsert") {
        if (current) this.update(target, current, operand.update);
        else changes[field] = this.create(target, operand.create).id;
      }
      if (operation === "disconnect") changes[field] = null;
      if (operation === "delete") {
        removed.push([target, this.#get(target, current).id]);
        changes[field] = null;
      }
    }
    return changes;
  }

  #others(model: ModelName, data: Data, id: string): void {
    for (const [name, relation] of Object.entries(relations[model])) {
      const operations = data[name] as Record<string, Operand> | undefined;
      if (operations === undefined || relation.kind === "to") continue;
      for (const operation of order) {
        if (operations[operation] === undefined) continue;
        const list = [operations[operation]].flat();
        if (operation === "set") this.#set(relation, id, list);
        else for (const each of list) this.#other(relation, id, operation, each);
      }
    }
  }

  #other(
    relation: Exclude<Relation, { kind: "to" }>,
    id: string,
    operation: string,
    each: Operand,
  ) {
    const { model } = relation;
    const isOne = relation.kind === "one";
    const only = isOne ? this.#related(relation, id)[0] : undefined;
    const where: string | undefined = isOne ? (each.where?.id ?? only) : (each.where ?? each).id;
    const isRelated = where !== undefined && this.#related(relation, id).includes(where);
    const create = (data: Data) => {
      if (isOne) this.#disconnectAll(relation, id, undefined);
      const reference = "field" in relation ? { [relation.field]: id } : {};
      const created = this.create(model, data, reference);
      if (relation.kind === "links") this.#connect(relation, id, created.id);
    };
    switch (operation) {
      case "create":
        return create(each);
      case "connect":
        return this.#connect(relation, id, this.#get(model, each.id).id);
      case "connectOrCreate":
        if (this.rows[model].has(each.where.id)) return this.#connect(relation, id, each.where.id);
        return create(each.create);
      case "disconnect":
        if (isRelated) this.#disconnect(relation, id, where);
        return;
      case "upsert":
        return isRelated ? this.update(model, where, each.update) : create(each.create);
      case "update":
        if (!isRelated) throw new Refused("unrelated");
        return this.update(model, where, isOne ? each : each.data);
      default:
        if (!isRelated) throw new Refused("unrelated");
        this.delete(model, where);
    }
  }

  #set(
    relation: Exclude<Relation, { kind: "to" }>,
    id: string,
    list: readonly { readonly id: string }[],
  ): void {
    const wanted = list.map((each) => this.#get(relation.model, each.id).id);
    for (const each of this.#related(relation, id)) {
      if (!wanted.includes(each)) this.#disconnect(relation, id, each);
    }
    for (const each of wanted) this.#connect(relation, id, each);
  }

  #related(relation: Exclude<Relation, { kind: "to" }>, id: string): string[] {
    if (relation.kind === "links") {
      const pairs = [...this.links].map((link) => link.split("/") as [string, string]);
      const own = relation.isPost ? 0 : 1;
      return pairs.filter((pair) => pair[own] === id).map((pair) => pair[1 - own]!);
    }
    const rows = [...this.rows[relation.model].values()];
    return rows.filter((row) => row[relation.field] === id).map((row) => row.id);
  }

  #connect(relation: Exclude<Relation, { kind: "to" }>, id: string, other: string): void {
    if (relation.kind === "links") {
      const [post, tag] = relation.isPost ? [id, other] : [other, id];
      this.#get("posts", post);
      this.#get("tags", tag);
      this.links.add(`${post}/${tag}`);
      return;
    }
    if (relation.kind === "one") this.#disconnectAll(relation, id, other);
    this.#put(relation.model, { ...this.#get(relation.model, other), [relation.field]: id });
  }

  #disconnectAll(
    relation: Exclude<Relation, { kind: "to" }>,
    id: string,
    kept: string | undefined,
  ): void {
    for (const each of this.#related(relation, id)) {
      if (each !== kept) this.#disconnect(relation, id, each);
    }
  }

  #disconnect(relation: Exclude<Relation, { kind: "to" }>, id: string, other: string): void {
    if (relation.kind === "links") {
      this.links.delete(relation.isPost ? `${id}/${other}` : `${other}/${id}`);
    } else {
      this.#put(relation.model, { ...this.#get(relation.model, other), [relation.field]: null });
    }
  }
}

const order = [
  ...["set", "disconnect", "delete", "update", "upsert", "connect", "connectOrCreate", "create"],
];

/** The fields that refer to users. */
const references: readonly [ModelName, string][] = [
  ["users", "bossId"],
  ["posts", "authorId"],
  ["profiles", "userId"],
];

const defaults: Readonly<Record<ModelName, Data>> = {
  users: { bossId: null },
  profiles: { userId: null },
  posts: { authorId: null },
  tags: {},
};
