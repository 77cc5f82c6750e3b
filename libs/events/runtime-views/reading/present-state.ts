import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Changes, NO_CHANGES, type Place } from '../domain/changes.js';
import {
  commandsOfAgent,
  commandsOfRetries,
  commandsOfRun,
  commandsOfTask,
  type ViewCommand,
} from '../domain/commands.js';
import { changedAgents } from './changed-agents.sql.js';
import { changedRuns } from './changed-runs.sql.js';
import { changedTasks } from './changed-tasks.sql.js';
import { liveRuns, presentAgents, viewedWorkspaces, waitingTasks } from './viewed-rows.sql.js';
import { waitingRetries } from './waiting-retries.sql.js';

/** Rows that are read and written at once when all keys are made anew. */
const PAGE = 1_000;

/** Reads Postgres for the keys of views. */
@Injectable()
export class PresentState {
  constructor(private readonly database: Database) {}

  /** The commands that bring the keys of these rows up to date, however often they run. */
  async commandsFor({ tasks, runs, agents, recoveries }: Changes): Promise<ViewCommand[]> {
    const { service } = this.database;
    const [taskRows, runRows, agentRows, retryRows] = await Promise.all([
      tasks.length === 0 ? [] : service.rows(changedTasks, pairs(tasks)),
      runs.length === 0 ? [] : service.rows(changedRuns, pairs(runs)),
      agents.length === 0 ? [] : service.rows(changedAgents, pairs(agents)),
      recoveries.length === 0 ? [] : service.rows(waitingRetries, [recoveries]),
    ]);
    // Live runs come last: two runs can share the key of a session.
    const ordered = [...runRows].sort((a, b) => Number(a.is_live) - Number(b.is_live));
    return [
      ...taskRows.flatMap(commandsOfTask),
      ...ordered.flatMap(commandsOfRun),
      ...agentRows.flatMap(commandsOfAgent),
      ...retryRows.flatMap(commandsOfRetries),
    ];
  }

  /** All rows that have keys, in pages. */
  async *everything(): AsyncGenerator<Changes> {
    const { service } = this.database;
    for (const { id: workspaceId } of await service.rows(viewedWorkspaces)) {
      const placed = (rows: readonly { id: string }[]) =>
        rows.map(({ id }) => ({ workspaceId, id }));
      for (let last: string | null = null; ;) {
        const tasks: { id: string }[] = await service.rows(waitingTasks, [workspaceId, last, PAGE]);
        if (tasks.length > 0) yield { ...NO_CHANGES, tasks: placed(tasks) };
        last = tasks.at(-1)?.id ?? null;
        if (tasks.length < PAGE) break;
      }
      for (const runs of pages(placed(await service.rows(liveRuns, [workspaceId])))) {
        yield { ...NO_CHANGES, runs };
      }
      for (const agents of pages(placed(await service.rows(presentAgents, [workspaceId])))) {
        yield { ...NO_CHANGES, agents };
      }
      yield { ...NO_CHANGES, recoveries: [workspaceId] };
    }
  }
}

function pairs(places: readonly Place[]): string[][] {
  return [places.map(({ workspaceId }) => workspaceId), places.map(({ id }) => id)];
}

function pages<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / PAGE);
  return Array.from({ length: count }, (_, at) => all.slice(at * PAGE, (at + 1) * PAGE));
}
