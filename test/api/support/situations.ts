import { newId } from '#lib/kernel';
import type { ApiClient } from '../../support/api-client.js';
import type { TestAgent, TestServer, TestWorkspace } from '../../support/shared-server.js';

/** A task that reached its status over the API, and its current or last run. */
export interface Situation {
  taskId: string;
  runId: string;
  agent: TestAgent;
}

export interface Stage {
  app: TestServer;
  workspace: TestWorkspace;
}

type Step = (stage: Stage, situation: Situation) => Promise<void>;

/**
 * Every status of a task. Statuses whose run makes a difference appear once for each way from
 * ASSIGNED.
 */
const WAYS = {
  PENDING: [report('release', { reason: 'unstarted' })],
  ASSIGNED: [],
  RUNNING: [report('start')],
  'RUNNING, its run STALE': [report('start'), falterSilently],
  'PAUSED, its run begun': [report('start'), command('pause')],
  'PAUSED, its run not begun': [command('pause')],
  'PAUSED, put down': [report('start'), command('pause'), report('release')],
  COMPLETED: [report('complete')],
  FAILED: [report('fail', { error: { message: 'no use', retryable: false } })],
  ABORTED: [command('cancel')],
  'ABORTED, to be retried': [report('fail', { error: { message: 'again', retryable: true } })],
  ARCHIVED: [report('complete'), command('archive')],
} satisfies Record<string, Step[]>;

export type SituationName = keyof typeof WAYS;
export const SITUATIONS = Object.keys(WAYS) as SituationName[];

export async function aSituation(stage: Stage, name: SituationName): Promise<Situation> {
  const capability = `only-${newId()}`;
  const { id: taskId } = await ok<{ id: string }>(stage.workspace.api, '/agent-tasks', {
    title: name,
    taskType: 'test',
    requiredCapabilities: [capability],
    retryBackoffSeconds: 3_600,
  });
  const agent = await stage.workspace.newAgent({ capabilities: [capability] });
  const { tasks } = await ok<{ tasks: { run: { id: string } }[] }>(
    agent.api,
    `/agents/${agent.id}/claim`,
  );
  const situation = { taskId, agent, runId: tasks[0]?.run.id as string };
  for (const step of WAYS[name]) await step(stage, situation);
  return situation;
}

function command(name: string): Step {
  return async ({ workspace }, { taskId }) => {
    await ok(workspace.api, `/agent-tasks/${taskId}/${name}`);
  };
}

function report(name: string, body: Record<string, unknown> = {}): Step {
  return async (_, { agent, runId }) => {
    await ok(agent.api, `/runs/${runId}/${name}`, body);
  };
}

/** Marks the run as the coordinator does after its agent has missed two heartbeats. */
async function falterSilently({ app: { db } }: Stage, { runId }: Situation): Promise<void> {
  await db.owner.query(
    `WITH marked AS (
       UPDATE task_runs SET state = 'STALE', stale_at = now(), version = version + 1 WHERE id = $1
       RETURNING workspace_id, id, task_id, version, agent_id)
     INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, run_version, new_state, agent_id, actor_kind)
     SELECT workspace_id, 'run.state_changed', '', task_id, id, version, 'STALE', agent_id, 'system' FROM marked`,
    [runId],
  );
}

async function ok<T>(api: ApiClient, path: string, body: unknown = {}): Promise<T> {
  const answer = await api.post<T>(path, body);
  if (answer.status < 300) return answer.body;
  throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}
