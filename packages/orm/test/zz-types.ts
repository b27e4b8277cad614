import type { Kv } from "@keywright/core";
import { guideLayout } from "../src/adopt/guide-layout.js";
import { adopt } from "../src/database/adopt-database.js";
import type { Database } from "../src/index.js";
import { User } from "./user-model.js";
export async function f(db: Database<{ users: typeof User }>, from: Kv): Promise<void> {
  await adopt(db, { from, models: { users: { layout: guideLayout(User), map: (v, id) => { const x: string = v; const y: string = id; return { name: x, email: y, favoriteColor: "" }; } } } });
  await adopt(db, { from, models: { users: { layout: guideLayout(User), map: (v: {a: string}, id) => ({ name: v.a, email: String(id), favoriteColor: "" }) } } });
  await adopt(db, { from, models: { users: { layout: guideLayout(User), map: () => ({ name: 3, email: "", favoriteColor: "" }) } } });
  await adopt(db, { from, models: { nope: guideLayout(User) } });
}
