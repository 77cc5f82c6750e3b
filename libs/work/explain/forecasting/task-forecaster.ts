import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import type { HoldCode } from '#lib/runs';
import {
  estimate,
  type EstimateView,
  type Kind,
  kindOf,
  type SimulatedTask,
} from '../domain/estimate.js';
import {
  asPrerequisite,
  type LineFacts,
  positionOf,
  type TaskOnItsWay,
} from '../domain/task-position.js';
import { kindHistory } from './kind-history.sql.js';
import { waitedFor, type WaitedForRow } from './waited-for.sql.js';
import {
  ExplainFactsReader,
  type SurroundedTask,
  type Surroundings,
} from '../explaining/explain-facts-reader.js';

/**
 * Maximum number of direct and indirect dependencies that an estimate considers. With more there is
 * no estimate.
 */
const DEPENDENCIES_LOOKED_AT = 100;
/** Maximum number of those tasks that are searched in the queue. */
const READY_LOOKED_AT = 20;
/** Maximum number of tasks before each of them. All are simulated for each. */
const AHEAD_LOOKED_AT = 200;
/** Maximum number of kinds whose history is read. Tasks of other kinds count as the task's own. */
const KINDS_LOOKED_AT = 20;

/** A task with its surroundings. */
export interface TaskInContext {
  id: string;
  row: SurroundedTask & { queue_expires_at: Date | null; held_back: HoldCode[] } & {
    assigned_at: Date | null;
    started_at: Date | null;
    awaited_start: Date | null;
    awaited_key: string | null;
  };
  surroundings: Surroundings;
  line: LineFacts;
}

/** Estimates when a task will start and end. */
@Injectable()
export class TaskForecaster {
  constructor(
    private readonly database: Database,
    private readonly reader: ExplainFactsReader,
  ) {}

  /**
   * @param now the database's clock
   */
  async estimate(now: Date, workspaceId: string, task: TaskInContext): Promise<EstimateView> {
    const edges = await this.edges(workspaceId, task);
    const waited = edges && (await this.inContext(workspaceId, edges));
    const tasks = [task, ...(waited ?? [])];
    const kinds = await this.kinds(workspaceId, tasks);
    return estimate(now, simulatedTasks(now, { tasks, edges: waited && edges, kinds }));
  }

  /** Null means too many. */
  private async edges(
    workspaceId: string,
    { id, row }: TaskInContext,
  ): Promise<WaitedForRow[] | null> {
    const waits = row.unmet_dependencies > 0 && (row.status === 'PENDING' || row.retry_at !== null);
    if (!waits) return [];
    const params = [workspaceId, id, DEPENDENCIES_LOOKED_AT + 1];
    const edges = await this.database.tenant(workspaceId).rows(waitedFor, params);
    return edges.length > DEPENDENCIES_LOOKED_AT ? null : edges;
  }

  /** The surroundings of the prerequisites, each once. Null means too many. */
  private async inContext(
    workspaceId: string,
    edges: readonly WaitedForRow[],
  ): Promise<TaskInContext[] | null> {
    const rows = [...new Map(edges.map((edge) => [edge.id, edge])).values()];
    const ready = rows.filter((row) => row.status === 'PENDING' && row.unmet_dependencies === 0);
    if (ready.length > READY_LOOKED_AT) return null;
    const same = new Map<string, Promise<Surroundings>>();
    const surroundings = (row: WaitedForRow) => {
      const key = `${row.status} ${row.task_type} ${row.required_capabilities.join(',')}`;
      const known = same.get(key) ?? this.reader.surroundings(workspaceId, row);
      same.set(key, known);
      return known;
    };
    const tasks: TaskInContext[] = [];
    // One after the other, because an explanation must not take connections from agents.
    for (const row of rows) {
      const line = await this.reader.line(workspaceId, row, AHEAD_LOOKED_AT);
      tasks.push({ id: row.id, row, surroundings: await surroundings(row), line });
    }
    return tasks;
  }

  private async kinds(
    workspaceId: string,
    tasks: readonly TaskInContext[],
  ): Promise<ReadonlyMap<string, Kind>> {
    const own = tasks.map(({ row }) => row.kind);
    const others = tasks.flatMap(({ line }) => [...line.ahead, ...line.held]);
    const names = [...new Set([...own, ...others.map(({ kind }) => kind)])];
    const params = [workspaceId, names.slice(0, KINDS_LOOKED_AT)];
    const rows = await this.database.tenant(workspaceId).rows(kindHistory, params);
    return new Map(rows.map((row) => [row.kind, kindOf(row)]));
  }
}

const UNSEEN: Kind = { durations: null, waits: null };

/** The first of the tasks, with its prerequisites. */
function simulatedTasks(
  now: Date,
  {
    tasks,
    edges,
    kinds,
  }: {
    tasks: readonly TaskInContext[];
    edges: readonly WaitedForRow[] | null;
    kinds: ReadonlyMap<string, Kind>;
  },
): SimulatedTask {
  const known = new Map<string, SimulatedTask>();
  const arrange = (id: string): SimulatedTask => {
    const before = known.get(id);
    if (before) return before;
    const number = known.size;
    const task = tasks.find((one) => one.id === id);
    if (!task) throw new Error('A task that is waited for was not read');
    const kind = kinds.get(task.row.kind) ?? UNSEEN;
    // If tasks wait for each other in a circle, the last one sees this.
    known.set(id, {
      number,
      kind,
      position: { kind: 'unknown', reason: 'waiting_for_dependency' },
    });
    const after =
      edges &&
      edges
        .filter((edge) => edge.task_id === id)
        .map((edge) => asPrerequisite(arrange(edge.id), howItEnded(edge)));
    const { surroundings, line } = task;
    const ofName = (name: string) => kinds.get(name) ?? kind;
    const position = positionOf(onItsWay(task), {
      now,
      ...surroundings,
      line,
      after,
      kindOf: ofName,
    });
    const simulated = { number, kind, position };
    known.set(id, simulated);
    return simulated;
  };
  return arrange(tasks[0]?.id ?? '');
}

function onItsWay({ row }: TaskInContext): TaskOnItsWay {
  return {
    status: row.status,
    retryAt: row.retry_at,
    queueExpiresAt: row.queue_expires_at,
    unmetDependencies: row.unmet_dependencies,
    awaitedStart: row.awaited_start,
    awaitedKey: row.awaited_key,
    heldBack: row.held_back,
    assignedAt: row.assigned_at,
    startedAt: row.started_at,
  };
}

function howItEnded(edge: WaitedForRow) {
  return {
    completed: edge.completed,
    endedWithoutSuccess: edge.ended_without_success,
    policy: edge.policy,
  };
}
