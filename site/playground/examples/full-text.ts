import { openKv } from "@keywright/core";
import {
  createDatabase,
  defineModel,
  snippet,
} from "@keywright/orm";
import * as z from "zod";

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    title: z.string(),
    body: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    search: {
      text: ["title", "body"],
      language: "english",
      weights: { title: 4 },
    },
  },
});

const kv = await openKv();
const db = await createDatabase({ kv, models: { posts: Post } });

await db.posts.createMany({
  data: [
    {
      id: "1",
      title: "Brown foxes",
      body: "The quick brown fox jumps over a lazy dog.",
    },
    {
      id: "2",
      title: "Cats",
      body: "A cat is quick. It jumped over the brown fox.",
    },
    {
      id: "3",
      title: "Cafés",
      body: "Where foxes & dogs are welcome.",
    },
  ],
});

// Words, "phrases", prefixes such as ca*, and -exclusions.
for (const query of ["fox", "jumping -cat", "cafe", "do*"]) {
  const { items } = await db.posts.search({ query });
  console.log(`${query}:`);
  for (const { row, highlights } of items) {
    console.log(
      "-",
      row.title,
      "|",
      snippet(row.body, highlights.body),
    );
  }
}
