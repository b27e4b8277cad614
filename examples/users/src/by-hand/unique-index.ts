/**
 * A unique index as Deno KV's guide to secondary indexes builds it: the row under its primary key,
 * and a pointer to it under its email address. https://docs.deno.com/deploy/kv/secondary_indexes/
 */
import type { Kv } from "@keywright/core";

export interface User {
  id: string;
  name: string;
  email: string;
}

/**
 * Stores a user.
 *
 * @throws {TypeError} if another user has the id or the email address, in any letter case.
 */
export async function insertUser(kv: Kv, user: User): Promise<void> {
  const primaryKey = ["users", user.id] as const;
  const byEmailKey = ["users_by_email", user.email.toLowerCase()] as const;
  const res = await kv
    .atomic()
    .check({ key: primaryKey, versionstamp: null })
    .check({ key: byEmailKey, versionstamp: null })
    .set(primaryKey, user)
    .set(byEmailKey, user.id)
    .commit();
  if (!res.ok) throw new TypeError("User with ID or email already exists");
}

export async function getUser(kv: Kv, id: string): Promise<User | null> {
  const res = await kv.get<User>(["users", id]);
  return res.value;
}

export async function getUserByEmail(kv: Kv, email: string): Promise<User | null> {
  const idRes = await kv.get<string>(["users_by_email", email.toLowerCase()]);
  if (!idRes.value) return null;
  const res = await kv.get<User>(["users", idRes.value]);
  return res.value;
}

/** Deletes a user and its pointer. Retries if the user changed between the read and the commit. */
export async function deleteUser(kv: Kv, id: string): Promise<void> {
  let res = { ok: false };
  while (!res.ok) {
    const cur = await kv.get<User>(["users", id]);
    if (cur.value === null) return;
    res = await kv
      .atomic()
      .check(cur)
      .delete(["users", id])
      .delete(["users_by_email", cur.value.email.toLowerCase()])
      .commit();
  }
}
