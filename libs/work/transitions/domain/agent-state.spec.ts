import { describe, expect, it } from '@jest/globals';
import { AGENT_EDGES, AGENT_LIFECYCLES, legalAgentTransitions } from './agent-state.js';

describe('the agent state machine', () => {
  it('edges of agents lead to other states of the table', () => {
    for (const from of AGENT_LIFECYCLES) {
      for (const to of legalAgentTransitions(from)) {
        expect(AGENT_LIFECYCLES).toContain(to);
        expect(to).not.toBe(from);
      }
    }
  });

  it('every agent state can end, and TERMINATED is final', () => {
    expect(AGENT_EDGES.TERMINATED).toEqual([]);
    for (const from of AGENT_LIFECYCLES.filter((state) => state !== 'TERMINATED')) {
      expect(legalAgentTransitions(from)).toContain('TERMINATED');
    }
  });

  it('a draining agent never works again, not even after an error', () => {
    expect(legalAgentTransitions('DRAINING')).not.toContain('ACTIVE');
    expect(legalAgentTransitions('DRAINING')).toContain('ERROR');
    expect(legalAgentTransitions('ERROR')).toContain('DRAINING');
  });

  it('no edge leads back to STARTING', () => {
    expect(
      AGENT_LIFECYCLES.filter((from) => legalAgentTransitions(from).includes('STARTING')),
    ).toEqual([]);
  });
});
