import { resultText, rowText } from "./keywright-program.js";
import {
  eachFile,
  type Files,
  neighboursOf,
  type Program,
  positions,
  readsParent,
} from "./program.js";

/**
 * The same models for `prisma generate`, whose output is `client`. They are for PostgreSQL, because
 * Prisma has no enums and lists on SQLite.
 */
export function prismaSchema(count: number): Files {
  const models = positions(count).map((i) => {
    const { parent, child } = neighboursOf(i, count);
    return `model Model${i} {
  id        String   @id @default(ulid())
  email     String   @unique
  name      String
  status    Status
  team${i}  String
  score${i} Float
  active    Boolean  @default(true)
  note      String?
  address   Json
  tags      String[] @default([])
  createdAt DateTime @default(now())
  parentId  String
  parent    Model${parent} @relation(fields: [parentId], references: [id])
  children  Model${child}[]

  @@index([team${i}, score${i}])
  @@index([parentId])
}`;
  });
  return {
    "schema.prisma": `generator client {
  provider   = "prisma-client"
  output     = "./client"
  engineType = "client"
}

datasource db {
  provider = "postgresql"
  url      = "postgresql://localhost/none"
}

enum Status {
  draft
  open
  closed
}

${models.join("\n\n")}
`,
  };
}

/**
 * The same queries in Prisma.
 *
 * @param generated the client that `prisma generate` made.
 */
export function prismaProgram(count: number, generated: Files): Program {
  return {
    imports: {
      "imports.ts": `import * as runtime from "@prisma/client/runtime/client";
export { runtime };
`,
    },
    models: {},
    database: {
      ...generated,
      "database.ts": `import { PrismaClient } from "./client/client.js";

export function open(options: ConstructorParameters<typeof PrismaClient>[0]) {
  return new PrismaClient(options);
}
export type Db = ReturnType<typeof open>;
`,
    },
    queries: eachFile(count, (i) => `queries-${i}.ts`, queriesText),
  };
}

function queriesText(i: number): string {
  const include = readsParent(i) ? ", include: { parent: true }" : "";
  return `import type { Db } from "./database.js";

export async function queries${i}(db: Db) {
  const one = await db.model${i}.findUnique({ where: { email: "a" }${include} });
  const page = await db.model${i}.findMany({
    where: { team${i}: "a", score${i}: { gte: 1 } },
    orderBy: { score${i}: "desc" },
    take: 10,
  });
  const made = await db.model${i}.create({ data: ${rowText(i)} });
  const changed = await db.model${i}.update({ where: { id: made.id }, data: { name: "g" } });
${resultText(i, "one?.parent.name", "page").replace("one?.address.city", "one?.note ?? undefined")}}
`;
}
