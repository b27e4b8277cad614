import type { Kv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const Message = defineModel({
  name: "messages",
  schema: z.object({ id: z.ulid(), room: z.string(), text: z.string().min(1) }),
  primaryKey: "id",
  indexes: { byRoom: { key: ["room", "id"] }, byText: { key: ["room", "text"], unique: true } },
});

export type Database = Awaited<ReturnType<typeof openDatabase>>;

export function openDatabase(kv: Kv) {
  return createDatabase({ kv, models: { messages: Message } });
}
