import { describe, expect, it } from '@jest/globals';
import { AGENT_EDGES, AGENT_LIFECYCLES, legalAgentTransitions } from './agent-state.js';

describe('the life of an agent', () => {
  it('leads to states of the table only, and never from one to itself', () => {
    for (const from of AGENT_LIFECYCLES) {
      for (const to of legalAgentTransitions(from)) {
        expect(AGENT_LIFECYCLES).toContain(to);
        expect(to).not.toBe(from);
      }
    }
  });

  it('can end from everywhere, and ends for good', () => {
    expect(AGENT_EDGES.TERMINATED).toEqual([]);
    for (const from of AGENT_LIFECYCLES.filter((state) => state !== 'TERMINATED')) {
      expect(legalAgentTransitions(from)).toContain('TERMINATED');
    }
  });

  it('never leads a draining agent back to work, not even by way of an error', () => {
    expect(legalAgentTransitions('DRAINING')).not.toContain('ACTIVE');
    expect(legalAgentTransitions('DRAINING')).toContain('ERROR');
    expect(legalAgentTransitions('ERROR')).toContain('DRAINING');
  });

  it('never leads back to the start', () => {
    expect(
      AGENT_LIFECYCLES.filter((from) => legalAgentTransitions(from).includes('STARTING')),
    ).toEqual([]);
  });
});
