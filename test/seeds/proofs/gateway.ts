import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, expect } from '@jest/globals';
import { DRIVER_KINDS } from '#lib/session-runtime';
import { environment } from '../../../apps/gateway/config.js';
import { SESSION_STATUSES } from '../../../apps/gateway/sessions/domain/session.js';
import { oneGateway } from '../../../apps/gateway/testing/world.js';
import {
  killMarked,
  uniqueSeconds,
} from '../../../libs/hosts/session-runtime/testing/processes.js';
import { waitFor } from '../../support/wait-for.js';
import { propertiesOf } from './openapi.js';
import { IMAGES, MANAGER_COMMANDS, QUOTAS } from '../promises/worker-manager.js';
import { SESSIONS } from '../promises/worker-service.js';
import { prove } from './prove.js';

const seconds = uniqueSeconds();
/** The request is in the task file. A prompt with "fail" fails. */
const COMMAND = `grep -q 'ask to fail' "$DROVER_TASK_FILE" && exit 3
grep -q 'ask to end' "$DROVER_TASK_FILE" && exit 0
exec sleep ${seconds}`;

const world = oneGateway({ GATEWAY_DEFAULT_COMMAND: JSON.stringify(['sh', '-c', COMMAND]) });

afterAll(killMarked);

interface Listed {
  id: string;
  completed: boolean;
  error: unknown;
}

/** The request of the worker service. */
const forWorker = (prompt: string) => ({
  sessionLabel: `agent:main:worker-slot-1:${randomUUID()}`,
  channel: 'internal', // or 'telegram' if notifications needed
  prompt,
  model: 'anthropic/claude-sonnet-4-5',
  thinking: 'low',
  autoStart: true,
});

const spawn = (body: object) => world.gateway.ask('POST', '/api/sessions/spawn', body);

/** The status of a session, as the worker service finds it. */
async function getSessionStatus(sessionId: string): Promise<string> {
  const response = await world.gateway.ask('GET', '/api/sessions');
  if (response.status !== 200) return 'unknown';
  const sessions = response.body as unknown as Listed[];
  const session = sessions.find((s) => s.id === sessionId);
  if (!session) return 'unknown';
  if (session.completed) return 'complete';
  if (session.error) return 'failed';
  return 'running';
}

const untilStatus = (sessionId: string, status: string) =>
  waitFor(`${sessionId} to be ${status}`, async () => {
    return (await getSessionStatus(sessionId)) === status;
  });

/** The request of the coordinator. */
const forTask = () => {
  const id = randomUUID();
  return {
    workspaceId: randomUUID(),
    agentId: randomUUID(),
    taskId: id,
    label: `task:${id}:${'Fix TypeScript strict errors in U-Connect'.slice(0, 30)}`,
    context: {
      taskTitle: 'Fix TypeScript strict errors in U-Connect',
      taskDescription: 'Run tsc --noEmit, fix all errors, commit changes',
      inputContext: { repository: 'u-connect', branch: 'main' },
      checkpointData: {},
    },
  };
};

prove(SESSIONS, {
  spawn: async () => {
    for (const [prompt, status] of [
      ['ask to end', 'complete'],
      ['ask to fail', 'failed'],
    ] as const) {
      const body = forWorker(prompt);
      expect((await spawn(body)).status).toBe(201);
      await untilStatus(body.sessionLabel, status);
    }
  },

  list: async () => {
    const body = forWorker('go on');
    expect(await getSessionStatus(body.sessionLabel)).toBe('unknown');
    await spawn(body);
    expect(await getSessionStatus(body.sessionLabel)).toBe('running');
    const answer = await world.gateway.ask('GET', '/api/sessions');
    expect(answer.body).toContainEqual(
      expect.objectContaining({ id: body.sessionLabel, completed: false, error: null }),
    );
  },

  kill: async () => {
    const body = forWorker('go on');
    await spawn(body);
    const path = `/api/sessions/${encodeURIComponent(body.sessionLabel)}`;
    expect((await world.gateway.ask('DELETE', path)).status).toBe(202);
    await untilStatus(body.sessionLabel, 'failed');
  },

  channel: async () => {
    const { kind } = propertiesOf('CreateWebhook');
    expect(kind?.enum).toEqual(['signed', 'slack', 'discord', 'email']);
    const later = await spawn({ ...forWorker('ask to end'), channel: 'telegram' });
    expect(later.status).toBe(201);
  },
});

prove(MANAGER_COMMANDS, {
  create: async () => {
    const body = forTask();
    const one = await world.gateway.spawn(body);
    expect([one.status, one.body.session]).toMatchObject([
      201,
      { id: expect.any(String), sessionKey: expect.any(String), taskId: body.taskId },
    ]);
    const again = await world.gateway.spawn(body);
    expect([again.status, again.body.session?.id]).toEqual([200, one.body.session?.id]);
  },

  delete: async () => {
    const { body } = await world.gateway.spawn(forTask());
    const { pid } = await world.untilStatus(body.session?.id ?? '', 'RUNNING');
    await world.gateway.ask('DELETE', `/api/sessions/${body.session?.id}?graceSeconds=5`);
    await world.untilStatus(body.session?.id ?? '', 'STOPPED');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  },

  status: async () => {
    const { body } = await spawn(forWorker('ask to fail'));
    const session = await world.untilStatus(body.session?.id ?? '', 'FAILED');
    expect(session).toMatchObject({
      startedAt: expect.any(String),
      lastActivityAt: expect.any(String),
      exitCode: 3,
      error: { class: 'exit_code' },
    });
  },
});

prove(QUOTAS, {
  concurrency: () => {
    expect(environment.shape.MAX_CONCURRENT_WORKERS.parse(undefined)).toBe(10);
  },

  queueTimeout: () => {
    expect(environment.shape.WORKER_CREATION_TIMEOUT.parse(undefined)).toBe(300);
  },
});

prove(IMAGES, {
  containers: () => {
    expect(DRIVER_KINDS).toEqual(['process']);
    expect(SESSION_STATUSES).not.toContain('PAUSED');
  },

  imageHash: () => expect(imageSettings()).toEqual([]),

  imageCollection: () => expect(imageSettings()).toEqual([]),
});

function imageSettings(): string[] {
  return Object.keys(environment.shape).filter((name) => /IMAGE|DOCKER|CONTAINER/.test(name));
}
