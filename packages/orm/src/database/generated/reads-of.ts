/** The words with which the names of methods begin that do not only read. */
type Verb = "create" | "update" | "upsert" | "delete" | "restore" | "purge" | "watch";

/** The names of the methods that read the log, which has no such state. */
type OfLog = "changes" | "history";

/**
 * Generated repositories → the same without the methods that write, watch or read the log. What `select` and the
 * like return has them in its type. They throw on the view of a snapshot.
 */
export type ReadsOf<Repositories> = {
  readonly [Name in keyof Repositories]: {
    [Method in keyof Repositories[Name] as Method extends `${Verb}${string}` | OfLog
      ? never
      : Method]: Repositories[Name][Method];
  };
};

/**
 * Returns the same repositories, with the type that lacks what a snapshot does not have. If the
 * compiler compared the types, a generated model would cost it half as much again.
 */
export function readsOf<Repositories>(repositories: Repositories): ReadsOf<Repositories> {
  return repositories as unknown as ReadsOf<Repositories>;
}
