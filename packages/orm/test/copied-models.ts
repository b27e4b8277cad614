import { expect } from "vitest";
import * as z from "zod";
import { belongsTo, type Database, defineModel, desc, hasMany, manyToMany } from "../src/index.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});

/** Copies its team's name, and the priority of its parent, which is also an issue. */
const Issue = defineModel({
  name: "issues",
  schema: z.object({
    id: z.string(),
    priority: z.int(),
    title: z.string().optional(),
    teamId: z.string().nullable().default(null),
    teamName: z.string().default("no team"),
    parentId: z.string().nullable().default(null),
    parentPriority: z.int().nullable().default(null),
  }),
  primaryKey: "id",
  indexes: { byTeam: { key: "teamId" }, byParent: { key: ["parentId", "priority"] } },
  relations: {
    team: belongsTo("teams", "teamId", { onDelete: "setNull", copy: { teamName: "name" } }),
    parent: belongsTo("issues", "parentId", {
      onDelete: "setNull",
      copy: { parentPriority: "priority" },
    }),
    children: hasMany("issues", "parentId"),
    labels: manyToMany("labels", { through: "issue_labels", from: "issueId", to: "labelId" }),
  },
});

const Label = defineModel({
  name: "labels",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: {
    issues: manyToMany("issues", { through: "issue_labels", from: "labelId", to: "issueId" }),
  },
});

/** Copies fields of its issue, one of which is itself a copy. */
const IssueLabel = defineModel({
  name: "issue_labels",
  schema: z.object({
    issueId: z.string(),
    labelId: z.string(),
    priority: z.int().default(0),
    issueTitle: z.string().optional(),
    team: z.string().default(""),
    note: z.string().optional(),
  }),
  primaryKey: ["issueId", "labelId"],
  indexes: {
    byPriority: { key: ["labelId", desc("priority")], count: true },
    byTeam: { key: ["labelId", "team"] },
  },
  relations: {
    issue: belongsTo("issues", "issueId", {
      onDelete: "cascade",
      copy: { priority: "priority", issueTitle: "title", team: "teamName" },
    }),
    label: belongsTo("labels", "labelId", { onDelete: "cascade" }),
  },
});

export const copiedModels = { teams: Team, issues: Issue, labels: Label, issueLabels: IssueLabel };

/** Compares each copy with the row that it copies. */
export async function expectCopiesToMatch(db: Database<typeof copiedModels>): Promise<void> {
  const { items: teams } = await db.teams.scan({ take: 1000 });
  const { items: issues } = await db.issues.scan({ take: 1000 });
  const { items: links } = await db.issueLabels.scan({ take: 1000 });
  const teamName = new Map(teams.map(({ id, name }) => [id, name]));
  const byId = new Map(issues.map((issue) => [issue.id, issue]));
  for (const issue of issues) {
    const { teamId, parentId } = issue;
    expect(issue.teamName).toBe(teamId === null ? "no team" : teamName.get(teamId));
    expect(issue.parentPriority).toBe(parentId === null ? null : byId.get(parentId)!.priority);
  }
  for (const { issueId, labelId, note: _, ...copies } of links) {
    const { priority, title, teamName: team } = byId.get(issueId)!;
    expect({ issueId, labelId, ...copies }).toEqual({
      issueId,
      labelId,
      priority,
      ...(title !== undefined && { issueTitle: title }),
      team,
    });
  }
}
