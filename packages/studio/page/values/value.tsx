import type { ComponentChild } from "preact";
import { hexText } from "./hex-text.js";
import { Lines } from "./lines.js";
import { tagged } from "./tagged-json.js";
import { Text } from "./text.js";
import { countText, valueText } from "./value-text.js";

/** Shows a value on one line. */
export function Value({ value }: { value: unknown }): ComponentChild {
  if (value === undefined) return <span class="absent">absent</span>;
  if (value === null) return <span class="null">null</span>;
  const text = valueText(value);
  if (typeof value !== "string") {
    return (
      <span class={`value-${kindOf(value)}`}>
        <Text text={text} />
      </span>
    );
  }
  return text === "" ? <span class="absent">empty</span> : <Text text={text} />;
}

// A value that fits on a line needs no lines for its parts.
const shortLength = 72;

export function FullValue({ value }: { value: unknown }): ComponentChild {
  if (typeof value === "string" && value !== "") {
    return (
      <span class="full-value">
        <Text text={value} isLong />
      </span>
    );
  }
  if (value instanceof Uint8Array) {
    return (
      <span class="full-value">
        <span class="muted">{countText(value.length, "byte")}</span> {hexText(value)}
      </span>
    );
  }
  if (typeof value !== "object" || value === null || value instanceof Date) {
    return <Value value={value} />;
  }
  if (valueText(value, shortLength).length <= shortLength) return <Value value={value} />;
  return (
    <span class="value-data">
      <Lines text={JSON.stringify(tagged(value), null, 2)} />
    </span>
  );
}

function kindOf(value: unknown): string {
  if (typeof value !== "object") return typeof value;
  if (value instanceof Date) return "date";
  return value instanceof Uint8Array ? "bytes" : "data";
}
