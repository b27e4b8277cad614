import { openKv } from "@keywright/core";
import * as fc from "fast-check";
import { it } from "vitest";
import { isModel } from "../src/codegen.js";
import { createDatabase, type OrmError } from "../src/index.js";
import { User } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const colors = ["red", "green", "blue"] as const;

type Operation =
  | { type: "create"; id: number; email: number; color: number }
  | { type: "update"; id: number; email?: number; color?: number }
  | { type: "delete"; id: number };

const small = fc.nat({ max: 5 });
const color = fc.nat({ max: 2 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ type: fc.constant("create" as const), id: small, email: small, color }),
  fc.record(
    { type: fc.constant("update" as const), id: small, email: small, color },
    { requiredKeys: ["type", "id"] },
  ),
  fc.record({ type: fc.constant("delete" as const), id: small }),
);

const expectedErrors = ["KW_UNIQUE_CONSTRAINT", "KW_ROW_NOT_FOUND"];

it("keeps rows and entries matched under random writes of several clients", async () => {
  const clients = fc.array(fc.array(operation, { maxLength: 8 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(clients, async (scripts) => {
      const kv = await openKv();
      try {
        const runs = scripts.map(async (script) => {
          const db = await createDatabase({ kv, models: { users: User } });
          for (const step of script) {
            const id = `01H76YTWK3YBV020S6MP69TB${step.id}0`;
            const where = { id };
            // Half of the time the letter case differs, which is the same unique value.
            const data = {
              ...("email" in step && {
                email: `${step.color ? "A" : "a"}${step.email}@example.com`,
              }),
              ...("color" in step && { favoriteColor: colors[step.color ?? 0]! }),
            };
            const write =
              step.type === "create"
                ? db.users.create({
                    data: { id, name: "A", email: "", favoriteColor: "", ...data },
                  })
                : step.type === "update"
                  ? db.users.update({ where, data })
                  : db.users.delete({ where });
            await write.catch((error: OrmError) => {
              if (!expectedErrors.includes(error.code)) throw error;
            });
          }
        });
        await Promise.all(runs);
        await expectIndexesToMatch(kv, User);
      } finally {
        await kv.close();
      }
    }),
    { numRuns: 200 },
  );
});

it("knows its models", () => {
  if (!isModel(User) || isModel({ ...User, schema: {} }) || isModel(null))
    throw new Error("isModel");
});
