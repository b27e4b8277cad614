import { type ErrorClass, errorClass } from "./codegen-error.js";

/** A command line with an unknown command or option, or with options that do not go together. */
export const UsageError: ErrorClass<{ reason: string }> = errorClass("KW_USAGE", ({ reason }) => ({
  text: reason,
  remedy: "`npx keywright help <command>` prints the options and examples of a command",
}));
export type UsageError = InstanceType<typeof UsageError>;

/** A fault in the command itself. The cause is the error that was thrown. */
export const InternalError: ErrorClass<object> = errorClass("KW_INTERNAL", (_, cause) => ({
  text: `this is a fault in keywright itself: ${cause instanceof Error ? cause.message : String(cause)}`,
  remedy: "report it, with the command line and the version",
}));
export type InternalError = InstanceType<typeof InternalError>;

/** A permission that Deno refuses. `reason` is its message. */
export const PermissionMissingError: ErrorClass<{ reason: string }> = errorClass(
  "KW_PERMISSION_MISSING",
  ({ reason }) => ({ text: reason, remedy: "run Deno with the option that the message names" }),
);
export type PermissionMissingError = InstanceType<typeof PermissionMissingError>;

/** A topic that the documentation does not have. `near` are topics with a similar name. */
export const TopicUnknownError: ErrorClass<{ topic: string; near: readonly string[] }> = errorClass(
  "KW_TOPIC_UNKNOWN",
  ({ topic, near }) => ({
    text: `there is no topic ${topic}`,
    remedy: `${near.length === 0 ? "" : `did you mean ${near.join(", ")}? `}\`npx keywright docs\` lists the topics`,
  }),
);
export type TopicUnknownError = InstanceType<typeof TopicUnknownError>;

interface TimeoutDescription {
  readonly tool: string;
  readonly seconds: number;
  /** False if the database has not opened. */
  readonly isOpen: boolean;
  /** True if the tool writes. */
  readonly writes: boolean;
}

/**
 * A call of a tool of `keywright mcp` that has taken too long. It was stopped, and what it returns
 * is dropped.
 */
export const CallTimeoutError: ErrorClass<
  TimeoutDescription,
  Pick<TimeoutDescription, "tool" | "seconds">
> = errorClass("KW_CALL_TIMEOUT", ({ tool, seconds, isOpen, writes }) => {
  const time = `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  const fields = { tool, seconds };
  if (!isOpen)
    return {
      text: `${tool}: the project and its database have not opened within ${time}`,
      remedy:
        "check that the server of the database runs, and that no module of the project waits while it is loaded, then call again. `npx keywright migrate status` opens the database in the same way",
      fields,
    };
  if (writes)
    return {
      text: `${tool}: the call has not ended within ${time}, and the row may have been written`,
      remedy: "read the row before you repeat the call",
      fields,
    };
  return {
    text: `${tool}: the call has not ended within ${time}, and was stopped`,
    remedy:
      "read less: narrow where, lower take or maxReads, or name fewer models. `keywright mcp --timeout <seconds>` gives calls more time, and `npx keywright verify` has no limit",
    fields,
  };
});
export type CallTimeoutError = InstanceType<typeof CallTimeoutError>;
