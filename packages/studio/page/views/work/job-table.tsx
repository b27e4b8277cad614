import type { ComponentChild } from "preact";
import type { JobTopic } from "../../../src/protocol/work.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";

/** Shows how many jobs of each name are in each state. */
export function JobTable({ topics }: { topics: readonly JobTopic[] }): ComponentChild {
  return (
    <TableScroller label="Jobs by name">
      <table>
        <caption class="visually-hidden">Jobs by name</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Waiting</th>
            <th scope="col">Delayed</th>
            <th scope="col">Running</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <tr key={topic.name}>
              <th scope="row">
                <Text text={topic.name} />
              </th>
              <Count count={topic.waiting} />
              <Count count={topic.delayed} />
              <Count count={topic.running} />
              <td class={topic.failed === 0 ? "number muted" : "number damage"}>
                {topic.failed === 0 ? (
                  "0"
                ) : (
                  <a
                    href={`#/work?${new URLSearchParams({ failed: topic.name })}`}
                    aria-label={`${topic.failed} failed jobs of ${topic.name}`}
                  >
                    {topic.failed.toLocaleString("en")}
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function Count({ count }: { count: number }): ComponentChild {
  return <td class={count === 0 ? "number muted" : "number"}>{count.toLocaleString("en")}</td>;
}
