import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { eventsOf as eventsIn } from '../../../../test/support/events.js';
import { expectNothingLeftOpen } from '../../../../test/support/leaks.js';
import {
  AGENT_LIFECYCLES,
  legalAgentTransitions,
  transitionAgent,
  transitionAgents,
} from '#lib/transitions';

let server: TestServer;
let workspace: TestWorkspace;
let other: TestWorkspace;

beforeAll(async () => {
  // A coordinator moves agents too: a draining agent without runs ends in the next cycle.
  server = await sharedServer('api');
  workspace = await server.newWorkspace();
  other = await server.newWorkspace();
});

afterEach(() => expectNothingLeftOpen(server.db.owner));
afterAll(() => server.stop());

async function eventsOf(id: string): Promise<Record<string, unknown>[]> {
  const all = await eventsIn(server.db.owner, workspace.id, 'agent.status_changed');
  return all.filter(({ agentId }) => agentId === id);
}

async function lifecycleOf(id: string): Promise<string | undefined> {
  const { rows } = await server.db.owner.query<{ lifecycle: string }>(
    'SELECT lifecycle FROM agents WHERE id = $1',
    [id],
  );
  return rows[0]?.lifecycle;
}

describe('transitions of agents', () => {
  it('exactly the edges of the table are allowed, each with its event and version', async () => {
    const state = fc.constantFrom(...AGENT_LIFECYCLES);
    await fc.assert(
      fc.asyncProperty(state, state, async (from, to) => {
        const { id } = await workspace.newAgent({ lifecycle: from });
        const transition = { workspaceId: workspace.id, agentId: id, to, reason: 'because' };
        const moved = await transitionAgents(server.db.database.tenant(workspace.id), [transition]);
        const legal = legalAgentTransitions(from).includes(to);
        expect(moved).toHaveLength(legal ? 1 : 0);
        expect(await lifecycleOf(id)).toBe(legal ? to : from);
        const events = await eventsOf(id);
        expect(events).toHaveLength(legal ? 1 : 0);
        if (legal) expect(events[0]).toMatchObject({ version: 2, reason: 'because' });
      }),
      { numRuns: 60 },
    );
  });

  it('an illegal transition is explained', async () => {
    const tenant = server.db.database.tenant(workspace.id);
    const { id } = await workspace.newAgent({ lifecycle: 'DRAINING' });
    const transition = { workspaceId: workspace.id, agentId: id, reason: 'x' };
    await expect(transitionAgent(tenant, { ...transition, to: 'ACTIVE' })).rejects.toMatchObject({
      code: 'illegal_transition',
      extras: { members: { from: 'DRAINING', to: 'ACTIVE', legal: ['ERROR', 'TERMINATED'] } },
    });
    await transitionAgent(tenant, { ...transition, to: 'TERMINATED' });
    await expect(transitionAgent(tenant, { ...transition, to: 'ACTIVE' })).rejects.toMatchObject({
      code: 'agent_terminated',
    });
    await expect(
      transitionAgent(server.db.database.tenant(other.id), {
        ...transition,
        workspaceId: other.id,
        to: 'ERROR',
      }),
    ).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it('one statement moves many agents', async () => {
    const agents = await Promise.all(Array.from({ length: 50 }, () => workspace.newAgent()));
    const transitions = agents.map(({ id }) => ({
      workspaceId: workspace.id,
      agentId: id,
      to: 'DRAINING' as const,
      reason: 'all',
    }));
    expect(await transitionAgents(server.db.database.service, transitions)).toHaveLength(50);
    expect(await lifecycleOf(agents[49]?.id ?? '')).toBe('DRAINING');
  });
});
