import type { Job } from "../src/protocol/maintenance.js";
import type { OpenStudio } from "./open-studio.js";

/** Waits for the end of the job, and returns it. */
export async function endOfJob({ call }: Pick<OpenStudio, "call">): Promise<Job> {
  for (;;) {
    const job = await call("job", null);
    if (job !== null && job.state !== "running" && job.state !== "stopping") return job;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
