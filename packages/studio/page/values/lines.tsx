import { type ComponentChild, Fragment } from "preact";
import { Text } from "./text.js";

/** Shows a text of several lines, such as JSON or a message of the server. */
export function Lines({ text }: { text: string }): ComponentChild {
  const lines = text.split("\n");
  return (
    <span class="full-value">
      {lines.map((line, index) => (
        // A line has no other name than its place.
        <Fragment key={index}>
          <Text text={line} />
          {index < lines.length - 1 && "\n"}
        </Fragment>
      ))}
    </span>
  );
}
