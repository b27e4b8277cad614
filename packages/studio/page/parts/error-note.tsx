import type { ComponentChild } from "preact";
import type { StudioError } from "../../src/protocol/studio-error.js";
import { rowHref } from "../navigation/links.js";
import { keyText } from "../values/key-text.js";
import { Lines } from "../values/lines.js";
import { Text } from "../values/text.js";

interface Props {
  readonly error: StudioError;
  readonly onRetry?: (() => void) | undefined;
}

/** Shows an error of the server, with a link to the row that causes it. */
export function ErrorNote({ error, onRetry }: Props): ComponentChild {
  const { code, message, damagedKey, owner } = error;
  return (
    <div class="note note-error" role="alert">
      <p class="note-text">
        <Lines text={message} />
      </p>
      <p class="note-line">
        {code !== null && <code class="muted">{code}</code>}
        {damagedKey !== null && (
          <span>
            Damaged entry:{" "}
            <code>
              <Text text={keyText(damagedKey)} />
            </code>
          </span>
        )}
        {code === "KW_CORRUPTION" && <a href="#/health">Show the damage</a>}
        {owner !== null && (
          <a href={rowHref(owner.property, owner.key)}>
            Show the row that has this <Text text={owner.fields.join(", ")} />
          </a>
        )}
        {onRetry !== undefined && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}
