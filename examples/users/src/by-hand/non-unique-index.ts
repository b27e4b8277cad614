/**
 * A non-unique index as Deno KV's guide to secondary indexes builds it: each user has a pointer,
 * whose key is the color and the id. https://docs.deno.com/deploy/kv/secondary_indexes/
 */
import type { Kv } from "@keywright/core";

export interface User {
  id: string;
  name: string;
  favoriteColor: string;
}

export async function insertUser(kv: Kv, user: User): Promise<void> {
  const primaryKey = ["users", user.id] as const;
  const byColorKey = ["users_by_favorite_color", user.favoriteColor, user.id] as const;
  await kv
    .atomic()
    .check({ key: primaryKey, versionstamp: null })
    .set(primaryKey, user)
    .set(byColorKey, user.id)
    .commit();
}

export async function getUsersByFavoriteColor(kv: Kv, color: string): Promise<User[]> {
  const iter = kv.list<string>({ prefix: ["users_by_favorite_color", color] });
  const ids: string[] = [];
  for await (const { value: id } of iter) ids.push(id);
  if (ids.length === 0) return [];
  const results = await kv.getMany<User[]>(ids.map((id) => ["users", id]));
  return results.flatMap(({ value }) => value ?? []);
}
