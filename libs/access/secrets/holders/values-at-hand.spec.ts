import { expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { SecretValues } from '../domain/secret-values.js';
import { ValuesAtHand } from './values-at-hand.js';

const agent = { workspaceId: newId(), agentId: newId() };
const secretOf = (run: number) => `secret-of-run-${run}-`.padEnd(24, 'x');

it('the values of all runs that an agent can hold at once are hidden in its heartbeats', () => {
  const atHand = new ValuesAtHand();
  const meet = (run: number) =>
    atHand.note(agent, `run ${run}`, SecretValues.ofTexts([secretOf(run)]));
  for (let run = 0; run < 1_000; run++) meet(run);
  // A long run is met again, so the next one evicts another.
  meet(0);
  meet(1_000);
  const { hide } = atHand.of(agent);
  const shown = [0, 2, 500, 1_000].map((run) => hide(`step of ${secretOf(run)}`));
  expect(shown).toEqual(Array(4).fill('step of [redacted]'));
});
