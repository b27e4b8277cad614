import type { ComponentChild } from "preact";
import { Text } from "./text.js";
import { FullValue } from "./value.js";

interface Props {
  readonly versionstamp: string;
  /** Null if it is not known. */
  readonly time: Date | null;
  /** What the commit said of itself, or undefined. */
  readonly context: unknown;
}

/** Shows when a commit was made, and what it said of itself. */
export function CommitNote({ versionstamp, time, context }: Props): ComponentChild {
  return (
    <p class="commit-note">
      {time === null ? (
        <span class="muted">before the log</span>
      ) : (
        <time dateTime={time.toISOString()}>{timeText(time)}</time>
      )}{" "}
      <code class="muted">{versionstamp}</code> <Context context={context} />
    </p>
  );
}

/** An object of texts and numbers, such as `{ actor, reason }`, is shown as a list of them. */
function Context({ context }: { context: unknown }): ComponentChild {
  if (context === undefined) return null;
  const isPlain = typeof context === "object" && context !== null && !Array.isArray(context);
  const entries = isPlain ? Object.entries(context) : [];
  const isList = entries.length > 0 && entries.every(([, value]) => typeof value !== "object");
  return (
    <span class="commit-context">
      {isList ? (
        entries.map(([name, value]) => (
          <span key={name} class="badge">
            <Text text={`${name}: ${String(value)}`} />
          </span>
        ))
      ) : (
        <FullValue value={context} />
      )}
    </span>
  );
}

function timeText(time: Date): string {
  return time.toISOString().replace("T", " ").replace("Z", " UTC");
}
