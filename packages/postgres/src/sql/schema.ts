/** Milliseconds since the epoch, by the clock of the server. */
export const serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";

/** The signature has the version of the body, so that programs of several versions can coexist. */
export function commitFunction(prefix: string): string {
  return `${prefix}_commit_2`;
}

export function channelOf(prefix: string): string {
  return `${prefix}_commits`;
}

export function createTable(prefix: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${prefix} (
      key bytea PRIMARY KEY,
      value bytea NOT NULL,
      version bytea NOT NULL,
      expires_at int8
    )`;
}
