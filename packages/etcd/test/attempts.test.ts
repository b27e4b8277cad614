import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { Attempts } from "../src/client/attempts.js";
import { CallFailure } from "../src/client/call-failure.js";

const failure = (code: status, details = "") =>
  new CallFailure("http://127.0.0.1:2379", { code, details } as ServiceError);
const timedOut = failure(status.DEADLINE_EXCEEDED);
const noLeader = failure(status.UNAVAILABLE, "etcdserver: no leader");

it("an attempt takes longer only after each endpoint has timed out", async () => {
  const attempts = new Attempts(60_000, 3);
  // Members without a leader refuse at once. They say nothing about how long an answer takes.
  for (const each of [timedOut, noLeader, noLeader, noLeader, timedOut]) {
    expect(attempts.time).toBe(1000);
    expect(await attempts.pauseAfter(each)).toBe(true);
  }
  expect(attempts.time).toBe(1000);
  await attempts.pauseAfter(timedOut);
  expect(attempts.time).toBe(2000);
  attempts.answered();
  expect(attempts.time).toBe(1000);
});

it("attempts end at the deadline", async () => {
  const attempts = new Attempts(5, 1);
  expect(attempts.time).toBeLessThanOrEqual(5);
  expect(await attempts.pauseAfter(noLeader)).toBe(false);
});

it("attempts continue until the deadline: the last pauses are shorter", async () => {
  const deadline = Date.now() + 300;
  const attempts = new Attempts(300, 1);
  while (await attempts.pauseAfter(noLeader)) expect(attempts.areOver).toBe(false);
  expect(deadline - Date.now()).toBeLessThan(20);
});
