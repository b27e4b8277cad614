/** The rule that the URL of a remote database breaks, as the reason of an error. */
export const remoteUrlReason =
  "must not be a URL; open a remote database with Deno.openKv or @deno/kv";

/** True if `Deno.openKv` takes a path for the URL of a remote database. */
export function isRemoteUrl(path: string): boolean {
  return path.startsWith("http://") || path.startsWith("https://");
}
