import type { ComponentChild } from "preact";
import type { Row } from "../../src/protocol/rows.js";
import { encode } from "../../src/protocol/wire.js";
import { Text } from "./text.js";
import { Value } from "./value.js";

interface Props {
  /** Null if there was no row. */
  readonly before: Row | null;
  readonly after: Row | null;
}

/** Shows the fields in which two versions of a row differ, each with its values. */
export function Differences({ before, after }: Props): ComponentChild {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => !isSame(before?.[name], after?.[name]));
  if (changed.length === 0) return <p class="muted">No field differs.</p>;
  return (
    <dl class="differences">
      {changed.map((name) => (
        <div key={name}>
          <dt>
            <Text text={name} />
          </dt>
          {before !== null && (
            <dd class="difference-before">
              <span class="visually-hidden">before: </span>
              <Value value={before[name]} />
            </dd>
          )}
          {after !== null && (
            <dd class="difference-after">
              <span class="visually-hidden">after: </span>
              <Value value={after[name]} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return encode(a) === encode(b);
}
