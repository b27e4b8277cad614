import type { ComponentChild } from "preact";
import type { CronState } from "../../../src/protocol/work.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";
import { timeText } from "./time-text.js";

/** Shows the crons: what runs, when the next tick comes, and how the last one ended. */
export function CronTable({ crons }: { crons: readonly CronState[] }): ComponentChild {
  return (
    <TableScroller label="Crons">
      <table>
        <caption class="visually-hidden">Crons</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Schedule</th>
            <th scope="col">State</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Succeeded</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {crons.map((cron) => (
            <tr key={cron.name}>
              <th scope="row">
                <Text text={cron.name} />
              </th>
              <td>
                <code>
                  <Text text={cron.schedule} />
                </code>{" "}
                <span class="muted">
                  <Text text={cron.timeZone} />
                </span>
              </td>
              <td>
                <State run={cron.run} />
              </td>
              <td class="whole">{timeText(cron.next)}</td>
              <td>
                <Last last={cron.last} />
              </td>
              <td class="number">{cron.succeeded.toLocaleString("en")}</td>
              <td class={cron.failed === 0 ? "number muted" : "number damage"}>
                {cron.failed.toLocaleString("en")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function State({ run }: { run: CronState["run"] }): ComponentChild {
  if (run === null) return <span class="muted">waits</span>;
  const { attempt, retryAt, process, error } = run;
  if (retryAt !== null)
    return (
      <>
        <span class="badge badge-warn">attempt {attempt} failed</span> again at {timeText(retryAt)}
        {error !== null && (
          <div class="muted">
            <Text text={error} />
          </div>
        )}
      </>
    );
  return (
    <>
      <span class="badge badge-info">runs</span> attempt {attempt}, process <Text text={process} />
    </>
  );
}

function Last({ last }: { last: CronState["last"] }): ComponentChild {
  if (last === null) return <span class="muted">none yet</span>;
  const { endedAt, error } = last;
  return (
    <>
      <span class={`badge ${error === null ? "badge-good" : "badge-bad"}`}>
        {error === null ? "succeeded" : "failed"}
      </span>{" "}
      {timeText(endedAt)}
      {error !== null && (
        <div class="muted">
          <Text text={error} />
        </div>
      )}
    </>
  );
}
