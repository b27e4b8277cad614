import type { ComponentChild } from "preact";
import type { Excerpt } from "../../../../src/protocol/rows.js";
import { Text } from "../../../values/text.js";

/** Shows a part of a field's text with the found words marked. */
export function ExcerptText({ excerpt: { field, parts } }: { excerpt: Excerpt }): ComponentChild {
  return (
    <p class="hit-text">
      <span class="muted">
        <Text text={field} />
      </span>{" "}
      {parts.map((part, position) =>
        position % 2 === 0 ? (
          <Text key={position} text={part} />
        ) : (
          <mark key={position}>
            <Text text={part} />
          </mark>
        ),
      )}
    </p>
  );
}
