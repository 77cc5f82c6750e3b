import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

interface Task {
  id: string;
  requiredCapabilities: string[];
  code?: string;
  errors?: { field: string }[];
}
interface Claimed {
  tasks: { task: { id: string }; run: { id: string } }[];
  code?: string;
  current?: string;
}

async function create(values: Record<string, unknown> = {}): Promise<Task> {
  const task = { title: 'A task', taskType: 'development', ...values };
  const { status, body } = await workspace.api.post<Task>('/agent-tasks', task);
  expect(status).toBe(201);
  return body;
}

const refuseTask = async (values: Record<string, unknown>) => {
  const task = { title: 'A task', taskType: 'development', ...values };
  const { status, body } = await workspace.api.post<Task>('/agent-tasks', task);
  return [status, body.code, body.errors?.[0]?.field];
};

async function register(agent: TestAgent, values: Record<string, unknown>) {
  return workspace.api.put<Task>(`/agents/${agent.id}`, { name: `Agent ${agent.id}`, ...values });
}

async function anAgent(values: Record<string, unknown> = {}): Promise<TestAgent> {
  const agent = await workspace.newAgent();
  expect((await register(agent, { maxConcurrentTasks: 10, ...values })).status).toBe(200);
  return agent;
}

async function claim(agent: TestAgent, values: Record<string, unknown> = {}) {
  const request = { maxTasks: 10, ...values };
  const { body } = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, request);
  return body;
}

const claimIds = async (agent: TestAgent, values?: Record<string, unknown>) =>
  (await claim(agent, values)).tasks.map(({ task }) => task.id);

async function reasonsOf(taskId: string): Promise<{ code: string; message: string }[]> {
  const { body } = await workspace.api.get<{ reasons: { code: string; message: string }[] }>(
    `/agent-tasks/${taskId}/explain`,
  );
  return body.reasons;
}

const command = { inputContext: { command: ['true'] } };

describe('a task with a command', () => {
  it('a task with a command goes only to agents that execute commands', async () => {
    const task = await create(command);
    expect(task.requiredCapabilities).toEqual(['command']);
    const reader = await anAgent({ capabilities: ['typescript'] });
    expect(await claimIds(reader)).toEqual([]);
    expect(await reasonsOf(task.id)).toMatchObject([
      { code: 'no_capable_agent', message: expect.stringMatching(/"command"/) },
    ]);
    const worker = await anAgent({ capabilities: ['command'] });
    expect(await claimIds(worker)).toEqual([task.id]);
  });
});

describe('a task without a command', () => {
  it('an agent that only executes commands leaves other tasks', async () => {
    const worker = await anAgent({ capabilities: ['command'], dedicatedTo: ['command'] });
    const plain = await create();
    const withCommand = await create(command);
    expect(await claimIds(worker)).toEqual([withCommand.id]);
    expect(await reasonsOf(plain.id)).toMatchObject([
      {
        code: 'agents_reserved',
        message: expect.stringMatching(/takes only tasks that require "command"/),
      },
    ]);
    expect(await claimIds(await anAgent())).toEqual([plain.id]);
  });
});

describe('an agent', () => {
  it('an agent gets tasks of the types that it names, past tasks of others', async () => {
    const tasks = await Promise.all(
      ['development', 'research', 'documentation'].map((taskType) => create({ taskType })),
    );
    const reader = await anAgent({ taskTypes: ['research', 'documentation'] });
    expect((await claimIds(reader)).sort()).toEqual([tasks[1]?.id, tasks[2]?.id].sort());
    expect(await reasonsOf(tasks[0]?.id ?? '')).toMatchObject([{ code: 'agents_reserved' }]);
  });

  it('an agent gets the same tasks alone and in a concurrent claim', async () => {
    const agents = await Promise.all([
      anAgent(),
      anAgent({ taskTypes: ['research'] }),
      anAgent({ capabilities: ['command'], dedicatedTo: ['command'] }),
      anAgent({ capabilities: ['command'] }),
    ]);
    await Promise.all(
      ['development', 'research'].flatMap((taskType) =>
        Array.from({ length: 20 }, (_, i) => create({ taskType, ...(i % 2 ? command : {}) })),
      ),
    );
    for (let round = 0; round < 3; round++) {
      const got = await Promise.all(agents.map((agent) => claim(agent, { maxTasks: 1 })));
      const kinds = got.map(({ tasks }) =>
        tasks.map(({ task }) => {
          const { taskType, inputContext } = task as unknown as {
            taskType: string;
            inputContext: object;
          };
          return { taskType, command: 'command' in inputContext };
        }),
      );
      for (const { command: has } of kinds[0] ?? []) expect(has).toBe(false);
      for (const kind of kinds[1] ?? [])
        expect(kind).toEqual({ taskType: 'research', command: false });
      for (const { command: has } of kinds[2] ?? []) expect(has).toBe(true);
      expect(kinds.flat()).toHaveLength(4);
    }
  });

  it('an agent cannot take the capability of another agent', async () => {
    const [mine, victim] = [await anAgent(), await anAgent()];
    for (const field of ['capabilities', 'dedicatedTo']) {
      const { status, body } = await register(mine, { [field]: [`agent:${victim.id}`] });
      expect([status, body.code, body.errors?.[0]?.field]).toEqual([
        400,
        'validation_failed',
        field,
      ]);
    }
    const task = await create({ agentId: mine.id });
    // An agent may send back the capabilities that it was shown.
    expect((await register(mine, { capabilities: [`agent:${mine.id}`] })).status).toBe(200);
    expect(await claimIds(mine)).toEqual([task.id]);
  });

  it('an agent that registers without commands keeps executing them', async () => {
    const old = await anAgent({ capabilities: ['command'] });
    await register(old, { capabilities: ['node'] });
    const task = await create(command);
    expect(await claimIds(old)).toEqual([task.id]);
  });

  it('an agent cannot be dedicated to a capability that it lacks', async () => {
    const agent = await anAgent();
    const { status, body } = await register(agent, { dedicatedTo: ['gpu'] });
    expect([status, body.code, body.errors?.[0]?.field]).toEqual([
      400,
      'validation_failed',
      'dedicatedTo',
    ]);
  });
});

describe('capabilities in the metadata', () => {
  it('capabilities in the metadata are required too', async () => {
    const { requiredCapabilities } = await create({
      requiredCapabilities: ['nestjs'],
      metadata: { requiredCapabilities: ['typescript', 'nestjs'] },
    });
    expect(requiredCapabilities).toEqual(['nestjs', 'typescript']);
  });

  it.each(['typescript', { 0: 'x' }, ['a,b'], [1], Array(21).fill('x')])(
    'invalid capabilities in the metadata are refused: %j',
    async (requiredCapabilities) => {
      expect(await refuseTask({ metadata: { requiredCapabilities } })).toEqual([
        400,
        'validation_failed',
        'metadata.requiredCapabilities',
      ]);
    },
  );

  it('capabilities of both fields together are limited', async () => {
    const words = (prefix: string) => Array.from({ length: 15 }, (_, i) => `${prefix}${i}`);
    const request = {
      requiredCapabilities: words('a'),
      metadata: { requiredCapabilities: words('b') },
    };
    expect((await refuseTask(request))[2]).toBe('metadata.requiredCapabilities');
  });
});

describe('an assigned task', () => {
  it('an assigned task goes only to its agent', async () => {
    const [mine, other] = [await anAgent(), await anAgent()];
    const task = await create({ agentId: mine.id });
    expect(await claimIds(other)).toEqual([]);
    expect(await claimIds(mine)).toEqual([task.id]);
  });

  it("an assigned task stays its agent's when the agent registers again", async () => {
    const mine = await anAgent({ capabilities: ['a'] });
    const task = await create({ agentId: mine.id, requiredCapabilities: ['a'] });
    await register(mine, { capabilities: ['a', 'b'] });
    expect(await claimIds(mine)).toEqual([task.id]);
  });

  it('a task can be assigned later, to another agent, and to none', async () => {
    const [one, other, third] = [await anAgent(), await anAgent(), await anAgent()];
    const { id } = await create(command);
    const assign = (agentId: string | null) =>
      workspace.api.post<Task>(`/agent-tasks/${id}/assign`, { agentId });
    expect((await assign(one.id)).body.requiredCapabilities).toEqual([
      `agent:${one.id}`,
      'command',
    ]);
    const patched = await workspace.api.patch<Task>(`/agent-tasks/${id}`, { agentId: other.id });
    expect(patched.body.requiredCapabilities).toEqual([`agent:${other.id}`, 'command']);
    for (const agent of [one, other, third]) await register(agent, { capabilities: ['command'] });
    expect(await claimIds(one)).toEqual([]);
    expect((await assign(null)).body.requiredCapabilities).toEqual(['command']);
    const waiting = claimIds(third, { waitMs: 20_000 });
    expect(await waiting).toEqual([id]);
  });

  it('an assignment wakes the claim of its agent', async () => {
    const [mine, nobody] = [await anAgent(), await anAgent()];
    const { id } = await create({ agentId: nobody.id });
    const waiting = claimIds(mine, { waitMs: 20_000 });
    await workspace.api.post(`/agent-tasks/${id}/assign`, { agentId: mine.id });
    expect(await waiting).toEqual([id]);
  });

  it('a task can only be assigned to an active agent of its workspace', async () => {
    const stranger = await (await server.newWorkspace()).newAgent();
    const gone = await workspace.newAgent({ lifecycle: 'TERMINATED' });
    for (const [agentId, status, code] of [
      [newId(), 404, 'agent_not_found'],
      [stranger.id, 404, 'agent_not_found'],
      [gone.id, 409, 'agent_terminated'],
    ]) {
      expect(await refuseTask({ agentId })).toEqual([status, code, 'agentId']);
    }
    expect(await refuseTask({ requiredCapabilities: [`agent:${newId()}`] })).toEqual([
      400,
      'validation_failed',
      'requiredCapabilities',
    ]);
  });
});

describe('a claim of a named task', () => {
  it('a claim of a named task gets only that task, if the agent can take it', async () => {
    const agent = await anAgent({ capabilities: ['a'] });
    await create({ priority: 10 });
    const wanted = await create({ priority: 1 });
    expect(await claimIds(agent, { taskId: wanted.id })).toEqual([wanted.id]);
  });

  it('a claim of a named task that the agent does not take is refused at once', async () => {
    const agent = await anAgent({ capabilities: ['a'], taskTypes: ['research'] });
    const executor = await anAgent({ capabilities: ['command'] });
    const tasks = [await create(command), await create(), await create(command)];
    expect(await claimIds(executor, { taskId: tasks[2]?.id })).toEqual([tasks[2]?.id]);
    for (const { id } of tasks) {
      const answer = await claim(agent, { taskId: id, waitMs: 20_000 });
      expect(answer).toMatchObject({ code: 'task_not_found' });
    }
  });

  it('a claim of a named task that cannot become ready is refused at once', async () => {
    const [agent, other] = [await anAgent(), await anAgent()];
    const task = await create();
    expect(await claimIds(other)).toEqual([task.id]);
    const waitMs = 20_000;
    expect(await claim(agent, { taskId: task.id, waitMs })).toMatchObject({
      code: 'illegal_transition',
      current: 'ASSIGNED',
    });
    expect(await claim(agent, { taskId: newId(), waitMs })).toMatchObject({
      code: 'task_not_found',
    });
  });
});
