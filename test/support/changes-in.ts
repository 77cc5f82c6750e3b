import { expect } from '@jest/globals';
import type { TestAgent } from './shared-server.js';
import type { Held, Scene } from '../../libs/work/coordinator/testing/scene.js';

export type Body = Record<string, unknown>;
export interface Work {
  step: { changeId: string; kind: string; generation: number };
  change: Body;
  repository: Body;
  message: string;
}

export const commit = (digit: number | string) => String(digit).repeat(40).slice(0, 40);
export const BASE = commit('b');
export const SECRET = 'a-secret-of-the-acceptance';
export const green = (head: string) => ({
  outcome: 'green',
  commit: head,
  exitCode: 0,
  durationMs: 900,
});

/** What agents, hosts and people do with changes in a scene. */
export function changesIn(scene: () => Scene) {
  async function repository(settings: Body = {}): Promise<string> {
    const { status, body } = await scene().workspace.api.post<Body>('/repositories', {
      name: 'shop',
      url: 'https://example.com/shop.git',
      acceptance: 'npm test',
      secrets: { TOKEN: SECRET },
      ...settings,
    });
    expect(status).toBe(201);
    return String(body['id']);
  }

  /** A run of a task with a repository, on a host of its own. */
  async function working(settings: Body = {}): Promise<Held> {
    const repositoryId = await repository(settings);
    const capabilities = ['git', `only-${Math.random().toString(36).slice(2)}`];
    const id = await scene().task({ repositoryId, requiredCapabilities: [capabilities[1]] });
    const agent = await scene().workspace.newAgent({ capabilities });
    return start(await scene().claim(agent, id));
  }

  async function start(held: Held): Promise<Held> {
    expect((await held.agent.api.post(`/runs/${held.runId}/start`, {})).status).toBe(200);
    return held;
  }

  const repositoryOf = ({ agent, runId }: Held) =>
    agent.api.post<{ repository: Body; change: Body & { feedback: Body[] } }>(
      `/runs/${runId}/repository`,
      {},
    );

  async function submit(held: Held, headCommit: string, more: Body = {}) {
    await repositoryOf(held);
    const size = { filesChanged: 2, insertions: 10, deletions: 3 };
    return held.agent.api.post<Body>(`/runs/${held.runId}/submit`, {
      baseCommit: BASE,
      headCommit,
      ...size,
      summary: 'It works.',
      ...more,
    });
  }

  async function submitted(held: Held, headCommit: string): Promise<void> {
    const { status, body } = await submit(held, headCommit);
    expect([status, body['state']]).toEqual([200, 'PROVING']);
  }

  async function step(agent: TestAgent, knows: Body = { forges: true }): Promise<Work | undefined> {
    const { status, body } = await agent.api.post<Work>('/change-steps/claim', knows);
    return status === 204 ? undefined : body;
  }

  const report = (agent: TestAgent, { step }: Work, body: Body) =>
    agent.api.post<Body>(`/change-steps/${step.changeId}/report`, {
      generation: step.generation,
      ...body,
    });

  /** Takes the step that is due, and reports its outcome. */
  async function done(agent: TestAgent, kind: string, body: Body): Promise<Work> {
    const work = await step(agent);
    expect(work?.step.kind).toBe(kind);
    expect((await report(agent, work!, body)).status).toBe(200);
    return work!;
  }

  async function saveDiff({ agent, runId }: Held, diff: string): Promise<Response> {
    return fetch(`${scene().server.url}/api/v1/runs/${runId}/artifacts/change.diff`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'text/x-diff' },
      body: diff,
    });
  }

  const change = async (id: string) =>
    (await scene().workspace.api.get<Body>(`/changes/${id}`)).body;
  const review = (id: string, verb: string, body: Body = {}) =>
    scene().workspace.api.post<Body>(`/changes/${id}/${verb}`, body);
  const approve = (id: string, headCommit: string) => review(id, 'approve', { headCommit });

  /** A change that waits for its review. */
  async function inReview(settings: Body = {}): Promise<Held> {
    const held = await working(settings);
    await submitted(held, commit(1));
    await done(held.agent, 'prove', green(commit(1)));
    expect(await change(held.id)).toMatchObject({ state: 'IN_REVIEW' });
    return held;
  }
  return {
    repository,
    working,
    start,
    repositoryOf,
    submit,
    submitted,
    step,
    report,
    done,
    saveDiff,
    change,
    review,
    approve,
    inReview,
  };
}
