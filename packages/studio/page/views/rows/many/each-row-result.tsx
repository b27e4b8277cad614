import type { ComponentChild } from "preact";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { keyOf, rowHref } from "../../../navigation/links.js";
import { Text } from "../../../values/text.js";
import { countText } from "../../../values/value-text.js";
import { labelOf } from "../../pick/find-rows.js";
import type { EachRow } from "./use-each-row.js";

interface Props {
  readonly model: ModelInfo;
  readonly state: EachRow;
  /** What happened to the rows that did not fail: `changed`. */
  readonly verb: string;
}

/** Shows how many rows were changed, and which were not. */
export function EachRowResult({ model, state, verb }: Props): ComponentChild {
  const { done, failed, isRunning, isOver } = state;
  if (!isRunning && !isOver) return null;
  return (
    <>
      <p role="status">
        {countText(done, "row")} {verb}
        {failed.length > 0 && `, ${countText(failed.length, "row")} not`}
        {isRunning ? "…" : "."}
      </p>
      {failed.length > 0 && (
        <ul class="note note-error failures">
          {failed.map(({ row: { id, row }, error }) => (
            <li key={id}>
              <a href={rowHref(model.property, keyOf(model, row))}>
                <Text text={labelOf(model, row)} />
              </a>
              : <Text text={error.message} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
