import type { ComponentChild } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { FailedJob } from "../../../src/protocol/work.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";
import { countText, valueText } from "../../values/value-text.js";
import { timeText } from "./time-text.js";

/** Shows the failed jobs of a name, and lets them wait again or removes them. */
export function FailedJobs({ name, count }: { name: string; count: number }): ComponentChild {
  const { isReadOnly } = useStudio();
  const [jobs, setJobs] = useState<readonly FailedJob[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<StudioError | null>(null);
  const [said, setSaid] = useState("");
  const [isAsking, setAsking] = useState(false);
  const load = useCallback(
    async (after: string | null) => {
      try {
        const page = await call("failedJobs", { name, cursor: after });
        setJobs((shown) => (after === null ? page.items : [...shown, ...page.items]));
        setCursor(page.cursor);
        setError(null);
      } catch (failure) {
        setError(errorDetails(failure));
      }
    },
    [name],
  );
  // The count changes when a job fails, or when another program retries or removes one.
  useEffect(() => void load(null), [load, count]);
  const change = async (action: "retryJobs" | "discardJobs", id: string | null) => {
    setAsking(false);
    try {
      const result = await call(action, { name, id });
      const skipped = "skipped" in result ? result.skipped : 0;
      const verb = action === "retryJobs" ? "waiting again" : "removed";
      const kept = skipped > 0 ? `, ${skipped} kept: another job has the unique key` : "";
      setSaid(`${countText(result.count, "job")} ${verb}${kept}`);
      await load(null);
    } catch (failure) {
      setError(errorDetails(failure));
    }
  };
  return (
    <div class="card">
      <h3>
        Failed jobs of <Text text={name} />
      </h3>
      <div class="tools">
        {!isReadOnly && count > 0 && (
          <>
            <button type="button" onClick={() => void change("retryJobs", null)}>
              Retry all
            </button>
            <button type="button" class="danger" onClick={() => setAsking(true)}>
              Discard all
            </button>
          </>
        )}
        <a href="#/work">Close</a>
        <span class="muted" role="status">
          {said}
        </span>
      </div>
      {error !== null && <ErrorNote error={error} onRetry={() => void load(null)} />}
      {jobs.length > 0 && (
        <TableScroller label={`Failed jobs of ${name}`}>
          <table>
            <caption class="visually-hidden">Failed jobs</caption>
            <thead>
              <tr>
                <th scope="col">Id</th>
                <th scope="col">Failed at</th>
                <th scope="col">Attempts</th>
                <th scope="col">Error</th>
                <th scope="col">Payload</th>
                {!isReadOnly && <th scope="col">Actions</th>}
              </tr>
            </thead>
            <tbody>
              {jobs.map((job) => (
                <tr key={job.id}>
                  <th scope="row" class="whole">
                    <code>{job.id}</code>
                  </th>
                  <td class="whole">{job.failedAt && timeText(job.failedAt)}</td>
                  <td class="number">{job.attempts}</td>
                  <td>
                    <Text text={shortened(job.error)} />
                  </td>
                  <td>
                    <Text text={valueText(job.payload, 120)} />
                  </td>
                  {!isReadOnly && (
                    <td class="whole">
                      <button
                        type="button"
                        aria-label={`Retry ${job.id}`}
                        onClick={() => void change("retryJobs", job.id)}
                      >
                        Retry
                      </button>{" "}
                      <button
                        type="button"
                        class="danger"
                        aria-label={`Discard ${job.id}`}
                        onClick={() => void change("discardJobs", job.id)}
                      >
                        Discard
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </TableScroller>
      )}
      {cursor !== null && (
        <button type="button" onClick={() => void load(cursor)}>
          Load more
        </button>
      )}
      {isAsking && (
        <Dialog title="Discard all failed jobs?" onClose={() => setAsking(false)}>
          <p>
            {countText(count, "failed job")} of <Text text={name} /> will be removed.
          </p>
          <footer class="dialog-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => void change("discardJobs", null)}>
              Discard
            </button>
          </footer>
        </Dialog>
      )}
    </div>
  );
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
