import { createProject, type Project } from "./project.js";

/** Models with all kinds of references and unique indexes. */
const modelsModule = `import { belongsTo, decimal, defineModel, hasMany, hasOne, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    name: z.string().min(2).max(40),
    email: z.email(),
    code: z.string().regex(/^[A-Z]{2}\\d$/),
    role: z.enum(["admin", "member"]).default("member"),
    balance: z.bigint(),
    avatar: z.instanceof(Uint8Array).optional(),
    address: z.object({ city: z.string(), zip: z.string().regex(/^\\d{5}$/) }).nullable(),
    createdAt: z.date().default(() => new Date()),
    updatedAt: z.date().default(() => new Date()),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byCode: { key: "code", unique: true },
  },
  relations: { posts: hasMany("posts", "authorId"), profile: hasOne("profiles", "userId") },
  timestamps: true,
  count: true,
});

export const Profile = defineModel({
  name: "profiles",
  schema: z.object({ userId: z.string(), bio: z.string() }),
  primaryKey: "userId",
});

export const Post = defineModel({
  name: "posts",
  schema: z
    .object({
      id: z.int(),
      authorId: z.string(),
      parentId: z.int().nullable(),
      title: z.string(),
      price: z.number().min(0),
      from: z.date(),
      until: z.date(),
    })
    .refine(({ from, until }) => until > from, "until must follow from"),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: "authorId", sum: [decimal("price", 2)] },
    byParent: { key: "parentId" },
  },
  relations: {
    author: belongsTo("users", "authorId"),
    parent: belongsTo("posts", "parentId"),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});

export const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string(), name: z.string(), deletedAt: z.date().optional() }),
  primaryKey: "id",
  indexes: { byName: { key: "name", unique: true } },
  softDelete: "deletedAt",
});

export const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.int(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
});
`;

/** A project whose database, a folder, is in `data`. */
export async function seedProject(seed = "", models: string = modelsModule): Promise<Project> {
  return await createProject({
    "keywright.config.ts": `import { openKv } from "@keywright/core";

export default {
  models: "models/*.ts",
  output: "db",
  database: () => openKv(new URL("./data", import.meta.url).pathname),
  ${seed}
};
`,
    "models/models.ts": models,
  });
}
