import type { ComponentChild } from "preact";
import { useCallback } from "preact/hooks";
import { call } from "../../api/call.js";
import { keyText } from "../../values/key-text.js";
import { Text } from "../../values/text.js";
import { KeyLink } from "../jobs/key-link.js";
import { MoreRows } from "../jobs/more-rows.js";
import { usePages } from "../jobs/use-pages.js";

interface Props {
  readonly model: string;
  readonly index: string;
}

/** Shows the rows that have the same values of a unique index. */
export function DuplicateRows({ model, index }: Props): ComponentChild {
  const load = useCallback(
    (cursor: string | null) => call("duplicates", { model, index, cursor }),
    [model, index],
  );
  const pages = usePages(load);
  return (
    <section class="plan-model">
      <h3>
        Duplicates of <Text text={`${model}.${index}`} />
      </h3>
      <ul>
        {pages.items.map(({ value, keys }, position) => (
          <li key={position}>
            <code>
              <Text text={keyText(value)} />
            </code>
            :{" "}
            {keys.map((key, place) => (
              <span key={place}>
                {place > 0 && ", "}
                <KeyLink model={model} rowKey={key} />
              </span>
            ))}
          </li>
        ))}
      </ul>
      <MoreRows pages={pages} none="None is left." />
    </section>
  );
}
